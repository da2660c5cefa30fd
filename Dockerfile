# The service with its production dependencies. Pin the base by its digest where you build for others:
#   docker build --build-arg NODE_IMAGE=node:26-bookworm-slim@sha256:... -t logquay .
# Debian, not Alpine: DuckDB's binding needs glibc.
ARG NODE_IMAGE=node:26-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/googlesql/package.json packages/googlesql/package.json
COPY packages/duckdb-engine/package.json packages/duckdb-engine/package.json
COPY packages/collector/package.json packages/collector/package.json
COPY packages/explorer/package.json packages/explorer/package.json
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY packages packages
RUN npm run build

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/googlesql/package.json packages/googlesql/package.json
COPY packages/duckdb-engine/package.json packages/duckdb-engine/package.json
COPY packages/collector/package.json packages/collector/package.json
COPY packages/explorer/package.json packages/explorer/package.json
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# dist/ has the packages of the repository itself. With DUCKDB=0 the image has neither the embedded engine nor Parquet.
ARG DUCKDB=1
RUN rm -rf node_modules/@logquay && if [ "$DUCKDB" = 0 ]; then rm -rf node_modules/@duckdb; fi
# Half of it is for browsers, debuggers and compilers.
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' \) -delete && rm -rf node_modules/node-sql-parser/umd

FROM ${NODE_IMAGE}
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY queries queries
# All that is ever written: converted data, and on the embedded engine the keys. The rest of the file system may be
# read-only (docker run --read-only); without a volume of your own the keys go with the container.
RUN mkdir .data && chown 1000:1000 .data
VOLUME /app/.data
# The image's own user "node", by number so that an orchestrator sees that it is not root.
USER 1000:1000
EXPOSE 4000
# Alive, not ready: a probe of /ready decides where traffic goes. The image has no curl; Node would take 60 MB each time.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${PORT:-4000} && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
# `docker run IMAGE keys list` and every other command work too.
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["serve"]
