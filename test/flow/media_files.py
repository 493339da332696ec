"""media_files.py - images and documents made by hand, whole and hostile ones."""
import base64
import struct
import zlib

WEBP = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, rows=None, depth=8, color=2):
    rows = rows or (b"\0" + b"\x80\x20\x20" * width) * height
    return (b"\x89PNG\r\n\x1a\n" +
            png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)) +
            png_chunk(b"IDAT", zlib.compress(rows, 9)) + png_chunk(b"IEND", b""))


def noise(width, height):
    """An opaque PNG that does not compress."""
    seed, rows = 1, bytearray()
    for _ in range(height):
        rows.append(0)
        for _ in range(width * 3):
            seed = (seed * 1103515245 + 12345) & 0x7fffffff
            rows.append(seed >> 16 & 255)
    return png(width, height, bytes(rows))


def gif(width, height):
    """One frame of one colour: codes of 9 bits with a clear before each pixel never need more."""
    table = b"\x20\x80\x20" * 256
    bits, n_bits, data = 0, 0, bytearray()
    for code in [c for _ in range(width * height) for c in (256, 1)] + [257]:
        bits |= code << n_bits
        n_bits += 9
        while n_bits >= 8:
            data.append(bits & 255)
            bits, n_bits = bits >> 8, n_bits - 8
    data.append(bits)
    blocks = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255]
                      for i in range(0, len(data), 255))
    return (b"GIF89a" + struct.pack("<HHBBB", width, height, 0xf7, 0, 0) + table + b"," +
            struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x08" + blocks + b"\0;")


def pdf(n_pages, trailer=b"", extra=()):
    objects = [b"<</Type/Catalog/Pages 2 0 R>>",
               b"<</Type/Pages/Count %d/Kids[%s]>>" % (n_pages, b" ".join(
                   b"%d 0 R" % (3 + n) for n in range(n_pages)))]
    objects += [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d 100]>>" % (100 + n)
                for n in range(n_pages)]
    objects += extra
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1, trailer, start)
    return bytes(out)


def locked_pdf():
    """No password fits: its check values are nonsense."""
    lock = (b"<</Filter/Standard/V 1/R 2/P -44/O<" + b"41" * 32 + b">/U<" + b"42" * 32 + b">>>")
    return pdf(1, b"/Encrypt 4 0 R/ID[<00><00>]", [lock])
