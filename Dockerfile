# What the server needs around it. `.devcontainer/` opens this stage, and adds what tests need by `bin/setup.mjs`.
FROM node:24-slim AS base
# For the commands that agents run; tini collects the children they leave behind.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git tini \
 && rm -rf /var/lib/apt/lists/*

# Built in one stage, run in another: the image holds no compiler, no tests and no development dependency.
FROM base AS build
WORKDIR /gauntlet
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
COPY . .
RUN npm run build -- --for-package && npm prune --omit=dev --ignore-scripts

FROM base
RUN install -d -o node -g node -m 0700 /data \
 && install -d -o node -g node /workspace
COPY --from=build /gauntlet/package.json /gauntlet/LICENSE /gauntlet/
COPY --from=build /gauntlet/node_modules /gauntlet/node_modules
COPY --from=build /gauntlet/dist /gauntlet/dist

# Reachable from outside the container, so it starts only with GAUNTLET_TOKEN and GAUNTLET_ALLOWED_HOSTS set.
ENV NODE_ENV=production \
    GAUNTLET_HOST=0.0.0.0 \
    GAUNTLET_PORT=4747 \
    GAUNTLET_DATA_DIR=/data \
    GAUNTLET_WORKSPACE=/workspace
USER node
WORKDIR /workspace
VOLUME ["/data", "/workspace"]
EXPOSE 4747
# Asked under the first allowed name, since no other Host gets in (fetch would not send it).
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.GAUNTLET_PORT, path: '/healthz', headers: { host: process.env.GAUNTLET_ALLOWED_HOSTS.split(',')[0].trim() } }, (reply) => process.exit(reply.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=32", "/gauntlet/dist/gauntlet.js"]
CMD ["serve"]
