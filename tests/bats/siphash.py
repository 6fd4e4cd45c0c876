"""SipHash-2-4, with the public key of dp_words_hash."""


def siphash(text, key=b"dpline words: 1\0", mask=2**64 - 1):
    k0, k1 = (int.from_bytes(key[i:i + 8], "little") for i in (0, 8))
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def turn(x, n):
        return (x << n | x >> 64 - n) & mask

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & mask
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = v[2] + v[3] & mask
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & mask
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & mask
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    data = text + b"\0" * (7 - len(text) % 8) + bytes([len(text) % 256])
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i:i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
