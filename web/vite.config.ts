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
    target: 'es2023',
  },
  logLevel: 'warn',
});
