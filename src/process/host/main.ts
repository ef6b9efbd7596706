/**
 * Entry point of the process host, a small process that starts every child, so that no fork blocks the server.
 *
 * It runs in its own session, communicates over descriptor 3, and ends everything it started when that descriptor
 * closes, which happens even when the server is killed.
 */
import { Socket } from 'node:net';
import { closeInherited } from './close-inherited.ts';
import { serveHost } from './serve.ts';

const CONNECTION_DESCRIPTOR = 3;
closeInherited(CONNECTION_DESCRIPTOR);

await serveHost(new Socket({ fd: CONNECTION_DESCRIPTOR, readable: true, writable: true }));
process.exit();
