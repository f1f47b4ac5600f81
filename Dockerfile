# Two images: `service`, the default, is given DATABASE_URL. `all-in-one` brings the embedded PostgreSQL, for trials.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY clients/typescript/package.json clients/typescript/package.json
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY migrations migrations
COPY src src
COPY console console
COPY scripts/notices.js scripts/notices.js
COPY scripts/packages.js scripts/packages.js
RUN npm run build

FROM build AS packages-all-in-one
RUN npm prune --omit=dev

FROM build AS packages
RUN npm prune --omit=dev --omit=optional

FROM node:24-bookworm-slim AS base
WORKDIR /app
ENV NODE_ENV=production
ENV HOST=0.0.0.0
ENV PORT=3000
COPY --from=build /app/dist dist
COPY assets assets
COPY package.json models.yaml LICENSE ./
# DATA_DIR: files, and the embedded database.
RUN mkdir .data && chown node:node .data
VOLUME /app/.data
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]

FROM base AS all-in-one
COPY --from=packages-all-in-one /app/node_modules node_modules

FROM base AS service
COPY --from=packages /app/node_modules node_modules
