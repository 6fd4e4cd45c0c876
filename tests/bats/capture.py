#!/usr/bin/python3
"""capture.py DEVICE FILE: what TCP carries over DEVICE, payloads one behind the other as they pass, until SIGTERM.
capture.py --rows FILE ARRAY.npy: how many rows of the array have their bytes in FILE, and of how many."""
import signal, socket, sys

def payload(frame, sent_here):
    if sent_here or frame[12:14] != b"\x08\x00" or frame[23] != 6: # on loopback each packet is seen going out and coming in
        return b""
    length = int.from_bytes(frame[16:18], "big")
    ip = 14 + 4 * (frame[14] & 15)
    tcp = ip + 4 * (frame[ip + 12] >> 4)
    return frame[tcp : 14 + length if length else len(frame)] # of a segment that the device will cut, the length may be 0

def capture(device, path):
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) # ETH_P_ALL
    seen.setsockopt(socket.SOL_SOCKET, 33, 1 << 28) # SO_RCVBUFFORCE
    seen.bind((device, 0))
    seen.settimeout(0.1)
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    print("ready", flush=True)
    with open(path, "wb") as out:
        while True:
            try:
                frame, about = seen.recvfrom(1 << 17)
            except TimeoutError:
                if over:
                    return
                continue
            out.write(payload(frame, device == "lo" and about[2] == socket.PACKET_OUTGOING))

def rows(path, array):
    import numpy
    rows = numpy.load(array)
    wire = open(path, "rb").read()
    # the middle of a row: what goes over a network in pieces is broken somewhere
    needles = {row[1:-1].tobytes() for row in rows} | {row[1:-1].astype(rows.dtype.newbyteorder()).tobytes() for row in rows}
    found = {needle for needle in needles if needle in wire}
    print(len(found), len(rows))

rows(*sys.argv[2:]) if sys.argv[1] == "--rows" else capture(*sys.argv[1:])
