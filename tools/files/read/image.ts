/** Reads images: unchanged if a model accepts them, scaled down if they are too large. */
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import { errorCode } from '../../../src/files/real-path.ts';
import type { RichOutput } from './output.ts';
import { CONVERT_MS, type RichFile } from './rich-file.ts';

type Sharp = typeof import('sharp').default;

/** An image sent as it is; the Messages API takes 5 MB of base64. */
const MAX_IMAGE_BYTES = 3_750_000;

/** Longer edge of an image; larger ones are scaled down. */
const MAX_EDGE_PIXELS = 2_000;

/** Pixels of an image that is decoded at all: a small file can hold a huge picture. */
const MAX_PIXELS = 100_000_000;

/** JPEG qualities to try in turn until an image fits. */
const QUALITIES = [85, 60, 35];

/**
 * Convert an image file to an image block.
 *
 * @throws {GauntletError} `tool_failed` if it is broken or cannot be scaled to fit.
 */
export async function readImage(rich: RichFile, bytes: Buffer): Promise<RichOutput> {
  const sharp = await loadSharp();
  if (sharp) return scaledImage(rich, bytes, sharp);
  if (bytes.length > MAX_IMAGE_BYTES) {
    throw new GauntletError(
      'tool_failed',
      `Cannot show "${rich.path}": it has ${bytes.length} bytes, at most ${MAX_IMAGE_BYTES} fit, and the package "sharp" that would scale it is not installed. Scale it with Bash first`,
    );
  }
  return imageOutput(rich, bytes, rich.kind, rich.kind.slice('image/'.length).toUpperCase());
}

async function scaledImage(rich: RichFile, bytes: Buffer, sharp: Sharp): Promise<RichOutput> {
  try {
    const open = () =>
      sharp(bytes, { limitInputPixels: MAX_PIXELS }).timeout({ seconds: Math.ceil(CONVERT_MS / 1_000) });
    const { width, height } = await open().metadata();
    const label = `${width} × ${height} ${rich.kind.slice('image/'.length).toUpperCase()}`;
    const isSmall = Math.max(width, height) <= MAX_EDGE_PIXELS && bytes.length <= MAX_IMAGE_BYTES;
    if (isSmall) return imageOutput(rich, bytes, rich.kind, label);

    const edge = MAX_EDGE_PIXELS;
    const scaled = () => open().rotate().resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
    const png = rich.kind === 'image/png' ? await scaled().png().toBuffer() : undefined;
    if (png && png.length <= MAX_IMAGE_BYTES) return imageOutput(rich, png, 'image/png', `${label}, scaled down`);
    for (const quality of QUALITIES) {
      rich.signal.throwIfAborted();
      const jpeg = await scaled().flatten({ background: 'white' }).jpeg({ quality }).toBuffer();
      if (jpeg.length <= MAX_IMAGE_BYTES) return imageOutput(rich, jpeg, 'image/jpeg', `${label}, scaled down`);
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
    `Cannot show "${rich.path}": it stays over ${MAX_IMAGE_BYTES} bytes however it is scaled`,
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

/** Load the optional package for scaling, if it is installed. */
async function loadSharp(): Promise<Sharp | undefined> {
  try {
    return (await import('sharp')).default;
  } catch (error) {
    // Optional: without it images are sent unchanged. An installed but broken package is an error.
    if (errorCode(error) === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
