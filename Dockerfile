FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked

FROM debian:bookworm-slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/target/release/guillemot /usr/local/bin/guillemot
# A number, so that Kubernetes' runAsNonRoot can see that it is not root.
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/guillemot guillemot
USER 10001
WORKDIR /var/lib/guillemot
ENV GUILLEMOT_LISTEN=0.0.0.0:8181
EXPOSE 8181
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["guillemot", "health"]
ENTRYPOINT ["guillemot"]
