# A server of the stores in the volume /var/lib/cdtquery. docs/operations.md has the commands.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends libsqlite3-dev libpcre2-dev zlib1g-dev libssl-dev binutils \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN scripts/build-release.sh && strip -o /cdtquery .build/release/cdtquery

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates curl libsqlite3-0 libpcre2-8-0 zlib1g libssl3 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --user-group --no-create-home --shell /usr/sbin/nologin cdtquery \
  && install -d -o cdtquery -g cdtquery -m 700 /var/lib/cdtquery
COPY --from=build /cdtquery /usr/local/bin/cdtquery
USER cdtquery
WORKDIR /var/lib/cdtquery
VOLUME /var/lib/cdtquery
EXPOSE 5984
STOPSIGNAL SIGTERM
# With or without TLS; the certificate has the name that clients use, and not that of loopback.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD curl -fsS http://127.0.0.1:5984/_up || curl -fsSk https://127.0.0.1:5984/_up
ENTRYPOINT ["cdtquery"]
# Who reaches the container is decided where its port is published, so TLS may be done by a proxy in front of it.
CMD ["serve", "stores", "--bind", "0.0.0.0:5984", "--users", "users.json", "--insecure"]
