# docker build -t dpline . ; docker run --rm -v "$PWD:/data" dpline fit people.csv --label ill --epsilon 1
# A container that is removed loses its files: the registry of what was spent is with the tables. For tables in several directories:
#   docker run --rm -v "$PWD:/data" -v dpline:/registry -e DPLINE_REGISTRY=/registry dpline …
FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates
COPY . /dpline
WORKDIR /dpline
RUN make deps-build && make -j"$(nproc)" install PREFIX=/usr DESTDIR=/installed

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libmsgpackc2 libzmq5 libgsl27 libsodium23 libmpfr6 libgmp10 \
    libjansson4 zlib1g liblzma5 libzstd1 libpng16-16 libjpeg62-turbo libsqlite3-0 libgomp1 gawk bash && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /
WORKDIR /data
ENV DPLINE_REGISTRY=/data/.dpline
ENTRYPOINT ["dpline"]
