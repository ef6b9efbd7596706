/**
 * Images: as they are where a model takes them, scaled down where they are too large.
 */
import type { Limits } from '../../../config/limits.ts';
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import { errorCode } from '../../../src/files/real-path.ts';
import type { RichOutput } from './output.ts';
import type { RichFile } from './rich-file.ts';

type Sharp = typeof import('sharp').default;

/** JPEG qualities tried in turn until an image fits. */
const QUALITIES = [85, 60, 35];

/** Turn an image file into an image block. @throws {GauntletError} `tool_failed` when it is broken or cannot be made to fit. */
export async function readImage(rich: RichFile, bytes: Buffer, limits: Limits): Promise<RichOutput> {
  const sharp = await loadSharp();
  if (sharp) return scaledImage(rich, bytes, sharp, limits);
  if (bytes.length > limits.imageBytes) {
    throw new GauntletError(
      'tool_failed',
      `Cannot show "${rich.path}": it has ${bytes.length} bytes, at most ${limits.imageBytes} fit, and the package "sharp" that would scale it is not installed. Scale it with Bash first`,
    );
  }
  return imageOutput(rich, bytes, rich.kind, rich.kind.slice('image/'.length).toUpperCase());
}

async function scaledImage(rich: RichFile, bytes: Buffer, sharp: Sharp, limits: Limits): Promise<RichOutput> {
  try {
    const open = () =>
      sharp(bytes, { limitInputPixels: limits.imagePixels }).timeout({ seconds: Math.ceil(limits.richReadMs / 1_000) });
    const { width, height } = await open().metadata();
    const label = `${width} × ${height} ${rich.kind.slice('image/'.length).toUpperCase()}`;
    const isSmall = Math.max(width, height) <= limits.imageEdgePixels && bytes.length <= limits.imageBytes;
    if (isSmall) return imageOutput(rich, bytes, rich.kind, label);

    const edge = limits.imageEdgePixels;
    const scaled = () => open().rotate().resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
    const png = rich.kind === 'image/png' ? await scaled().png().toBuffer() : undefined;
    if (png && png.length <= limits.imageBytes) return imageOutput(rich, png, 'image/png', `${label}, scaled down`);
    for (const quality of QUALITIES) {
      rich.signal.throwIfAborted();
      const jpeg = await scaled().flatten({ background: 'white' }).jpeg({ quality }).toBuffer();
      if (jpeg.length <= limits.imageBytes) return imageOutput(rich, jpeg, 'image/jpeg', `${label}, scaled down`);
    }
  } catch (error) {
    rich.signal.throwIfAborted();
    throw new GauntletError(
      'tool_failed',
      `Cannot show "${rich.path}": ${errorMessage(error)}. The image is broken or too large`,
      { cause: error },
    );
  }
  throw new GauntletError(
    'tool_failed',
    `Cannot show "${rich.path}": it stays over ${limits.imageBytes} bytes however it is scaled`,
  );
}

function imageOutput(rich: RichFile, bytes: Buffer, mediaType: string, summary: string): RichOutput {
  return {
    type: 'image',
    path: rich.path,
    content: [{ type: 'image', source: { type: 'base64', media_type: mediaType, data: bytes.toString('base64') } }],
    summary,
    sizeBytes: rich.file.stats.size,
    isPartial: false,
  };
}

/** The scaler, where the optional package is installed. */
async function loadSharp(): Promise<Sharp | undefined> {
  try {
    return (await import('sharp')).default;
  } catch (error) {
    // Optional: without it images go as they are. A package that is there and broken says so itself.
    if (errorCode(error) === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
