/**
 * Builds the console's page: files with hashed names below `/console/`, no inline script or style, nothing from
 * another host, so that a strict Content-Security-Policy holds.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // Data URLs would need exceptions in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A start of a fresh clone prints no advice; a test holds the size that counts, which is the compressed one.
    chunkSizeWarningLimit: 1_000,
    target: 'es2023',
  },
  logLevel: 'warn',
});
