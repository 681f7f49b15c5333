"""Writes the small pictures that tests read: rill/io/testdata/pictures.

    picture_files.py [folder]

PNG, GIF and BMP are written here, byte by byte, so that kinds that few programs write are among them;
JPEGs by TensorFlow, but for those of inks.
"""
import os
import struct
import sys
import zlib

import numpy as np
import tensorflow as tf

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../rill/io/testdata/pictures")
random = np.random.default_rng(7)


def write(name, data):
    with open(os.path.join(FOLDER, name), "wb") as f:
        f.write(data)


# ---- PNG
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def packed(pixels, depth):
    """Lines of [h, w, channels] with a filter byte, which turns through all five."""
    h, w = pixels.shape[:2]
    out = b""
    previous = None
    step = max(1, pixels.shape[2] * depth // 8)
    for y in range(h):
        numbers = pixels[y].reshape(-1)
        if depth == 16:
            line = numbers.astype(">u2").tobytes()
        else:
            bits = "".join(format(int(n), f"0{depth}b") for n in numbers)
            bits += "0" * (-len(bits) % 8)
            line = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        kind = y % 5
        up = previous or bytes(len(line))
        coded = bytearray()
        for i, v in enumerate(line):
            left, above, corner = (line[i - step] if i >= step else 0), up[i], (up[i - step] if i >= step else 0)
            p = left + above - corner
            paeth = min((abs(p - left), 0, left), (abs(p - above), 1, above), (abs(p - corner), 2, corner))[2]
            coded.append((v - (0, left, above, (left + above) // 2, paeth)[kind]) & 255)
        out += bytes([kind]) + bytes(coded)
        previous = line
    return out


def png(name, color, depth, size=(7, 9), interlaced=False, palette=None, transparent=None):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    high = len(palette) // 3 if palette else 1 << depth
    pixels = random.integers(0, high, size + (channels,))
    if transparent and color in (0, 2):  # a color that occurs
        pixels[0, 0] = pixels[3, 4] = np.frombuffer(transparent, ">u2")
    if interlaced:
        parts = [pixels[y::dy, x::dx] for x, y, dx, dy in ADAM7]
        data = b"".join(packed(p, depth) for p in parts if p.size)
    else:
        data = packed(pixels, depth)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size[1], size[0], depth, color, 0, 0, interlaced))
    if palette:
        out += chunk(b"PLTE", palette)
    if transparent:
        out += chunk(b"tRNS", transparent)
    out += chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
    write(name, out)


def colors(n):
    return random.integers(0, 256, 3 * n, dtype=np.uint8).tobytes()


for depth in (1, 2, 4, 8, 16):
    png(f"gray{depth}.png", 0, depth)
for depth in (1, 2, 4, 8):
    png(f"palette{depth}.png", 3, depth, palette=colors(1 << min(depth, 5)))
for depth in (8, 16):
    png(f"gray_alpha{depth}.png", 4, depth)
    png(f"rgb{depth}.png", 2, depth)
    png(f"rgba{depth}.png", 6, depth)
    png(f"rgba{depth}_interlaced.png", 6, depth, interlaced=True)
png("gray2_interlaced.png", 0, 2, interlaced=True)
png("palette4_interlaced.png", 3, 4, interlaced=True, palette=colors(16))
png("palette4_transparent.png", 3, 4, palette=colors(16), transparent=bytes([0, 128, 255, 7]))
png("gray8_transparent.png", 0, 8, transparent=struct.pack(">H", 77))
png("gray4_transparent.png", 0, 4, transparent=struct.pack(">H", 7))
png("rgb8_transparent.png", 2, 8, transparent=struct.pack(">HHH", 7, 77, 177))
png("rgb16_transparent.png", 2, 16, transparent=struct.pack(">HHH", 7, 7777, 47777))
png("dot.png", 2, 8, size=(1, 1))


# ---- GIF
def lzw(indices, size):
    """Codes of LZW, of `size` bits at first."""
    clear, end = 1 << size, (1 << size) + 1
    table = {(i,): i for i in range(clear)}
    width, codes, prefix = size + 1, [(clear, size + 1)], ()
    for i in list(indices):
        longer = prefix + (int(i),)
        if longer in table:
            prefix = longer
            continue
        codes.append((table[prefix], width))
        table[longer] = len(table) + 2
        if len(table) + 2 > 1 << width:
            width += 1
        if width > 12:
            codes.append((clear, 12))
            table = {(i,): i for i in range(clear)}
            width = size + 1
        prefix = (int(i),)
    codes += [(table[prefix], width), (end, width)]
    number = shift = 0
    for code, bits in codes:
        number |= code << shift
        shift += bits
    data = number.to_bytes((shift + 7) // 8, "little")
    blocks = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255))
    return bytes([size]) + blocks + b"\0"


def gif(name, canvas, frames, bits=3, global_colors=True):
    """frames: (left, top, width, height, interlaced, transparent or None, own colors)."""
    out = b"GIF89a" + struct.pack("<HHBBB", *canvas, (0x80 if global_colors else 0) | bits - 1, 0, 0)
    if global_colors:
        out += colors(1 << bits)
    out += b"\x21\xfe\x05hello\x00"
    for left, top, width, height, interlaced, transparent, own in frames:
        if transparent is not None:
            out += b"\x21\xf9\x04" + struct.pack("<BHB", 1, 10, transparent) + b"\0"
        out += b"\x2c" + struct.pack("<HHHHB", left, top, width, height,
                                     (0x80 | bits - 1 if own else 0) | (0x40 if interlaced else 0))
        if own:
            out += colors(1 << bits)
        pixels = random.integers(0, 1 << bits, (height, width))
        if interlaced:
            pixels = np.concatenate([pixels[0::8], pixels[4::8], pixels[2::4], pixels[1::2]])
        out += lzw(pixels.reshape(-1), max(bits, 2))
    write(name, out + b"\x3b")


gif("one.gif", (9, 7), [(0, 0, 9, 7, False, None, False)])
gif("one_interlaced.gif", (9, 19), [(0, 0, 9, 19, True, None, True)])
gif("transparent.gif", (9, 7), [(0, 0, 9, 7, False, 3, False)])
gif("small_first.gif", (9, 7), [(2, 1, 5, 4, False, None, False), (0, 0, 9, 7, False, 2, False)])
gif("animated.gif", (9, 7), [(0, 0, 9, 7, False, None, False), (2, 1, 5, 4, False, 1, True),
                             (4, 3, 5, 4, True, 0, False), (7, 5, 9, 7, False, None, False)])
gif("black_and_white.gif", (5, 5), [(0, 0, 5, 5, False, None, False)], bits=1)
gif("many_colors.gif", (80, 70), [(0, 0, 80, 70, False, None, False)], bits=8)
gif("no_colors.gif", (9, 7), [(0, 0, 9, 7, False, None, False)], global_colors=False)


# ---- BMP
def bmp(name, bits, upside_down=False, size=(7, 5)):
    h, w = size
    row = (w * bits // 8 + 3) // 4 * 4
    data = random.integers(0, 256, row * h, dtype=np.uint8).tobytes()
    write(name, b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) +
          struct.pack("<IiiHHIIiiII", 40, w, -h if upside_down else h, 1, bits, 0, len(data), 0, 0, 0, 0) + data)


for bits in (8, 24, 32):
    bmp(f"bits{bits}.bmp", bits)
bmp("top_down.bmp", 24, upside_down=True)


# ---- JPEG
y, x = np.mgrid[0:37, 0:45]
smooth = np.stack([128 + 100 * np.sin(x / 7 + y / 9), 255 * x / 45, 255 * ((x // 9 + y // 9) % 2)], 2)
smooth = np.clip(smooth + random.normal(0, 6, smooth.shape), 0, 255).astype(np.uint8)


def jpeg(name, image, **options):
    write(name, tf.io.encode_jpeg(image, **options).numpy())


jpeg("rgb.jpg", smooth, quality=90)
jpeg("rgb_full.jpg", smooth, quality=75, chroma_downsampling=False)
jpeg("progressive.jpg", smooth, quality=80, progressive=True)
jpeg("gray.jpg", smooth[:, :, 1:2], quality=85)
jpeg("small.jpg", smooth[:3, :5], quality=95)


def inks(name, adobe):
    """Four components of 16 x 8 pixels, one number for each block, in codes as plain as can be."""
    def segment(marker, data):
        return bytes([0xff, marker]) + struct.pack(">H", len(data) + 2) + data

    out = b"\xff\xd8"
    if adobe is not None:
        out += segment(0xee, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, adobe))
    out += segment(0xdb, b"\0" + b"\x08" * 64)
    out += segment(0xc0, struct.pack(">BHHB", 8, 8, 16, 4) + b"".join(bytes([i, 0x11, 0]) for i in range(1, 5)))
    out += segment(0xc4, b"\x00" + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12)))  # 4 bits: the category
    out += segment(0xc4, b"\x10" + bytes([1] + [0] * 15) + b"\0")  # one bit: no more of this block
    out += segment(0xda, b"\x04" + b"".join(bytes([i, 0]) for i in range(1, 5)) + b"\0\x3f\0")
    bits, last = "", [0] * 4
    for values in ((-40, 90, 20, 110), (60, -100, 5, -70)):
        for i, value in enumerate(values):
            step, last[i] = value - last[i], value
            n = abs(step).bit_length()
            bits += format(n, "04b") + (format(step if step > 0 else step + (1 << n) - 1, f"0{n}b") if n else "") + "0"
    bits += "1" * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
    write(name, out + data.replace(b"\xff", b"\xff\0") + b"\xff\xd9")


inks("cmyk.jpg", None)
inks("cmyk_adobe.jpg", 0)
inks("ycck_adobe.jpg", 2)
