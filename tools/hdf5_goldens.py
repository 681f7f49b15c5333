"""Writes the HDF5 files that rill/io/hdf5_golden_test.cc reads.

    python -m venv VENV && VENV/bin/pip install h5py numpy
    VENV/bin/python tools/hdf5_goldens.py [FOLDER]     (rill/io/testdata/hdf5 by default)

Element i of each array, counted through, is i % 100; of a bool array, whether i % 3 is 0. So the
test needs no second file. Each kind of structure that h5py writes is there at least once, as small
as it comes.
"""
import ctypes
import glob
import os
import sys

import h5py
import numpy as np

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "rill", "io", "testdata", "hdf5")


def values(shape, dtype="i2"):
    i = np.arange(int(np.prod(shape))).reshape(shape)
    return (i % 3 == 0) if dtype == "?" else (i % 100).astype(dtype)


def create(name, fcpl=None, **options):
    path = os.path.join(FOLDER, name)
    if os.path.exists(path):
        os.remove(path)
    if fcpl is None:
        return h5py.File(path, "w", track_order=False, **options)
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_libver_bounds(*options.get("bounds", (h5py.h5f.LIBVER_EARLIEST,
                                                   h5py.h5f.LIBVER_LATEST)))
    return h5py.File(h5py.h5f.create(path.encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl))


def early(f, name, shape, dtype, chunks=None, compact=False, fill=None):
    """What h5py's own functions cannot ask for."""
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if compact:
        dcpl.set_layout(h5py.h5d.COMPACT)
    if chunks:
        dcpl.set_chunk(chunks)
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    if fill is not None:
        dcpl.set_fill_value(np.array(fill, dtype))
    space = h5py.h5s.create_simple(shape)
    data = values(shape, dtype)
    h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(np.dtype(dtype)), space, dcpl).write(
        h5py.h5s.ALL, h5py.h5s.ALL, data)


def dtypes(f):
    for d in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]:
        f["dtypes/" + np.dtype(d).name] = values((2, 3), d)
    for d in [">f2", ">f4", ">f8", ">i2"]:
        f["big_endian/" + np.dtype(d).name] = values((2, 3), d)
    f["scalar"] = np.float32(2.5)
    f["empty"] = np.zeros((0, 3), "f4")
    f["null"] = h5py.Empty("f4")


def layouts(f, filters=True):
    early(f, "compact", (3, 5), "i4", compact=True)
    f.create_dataset("unwritten", (4,), "i4", fillvalue=7)
    f.create_dataset("chunked", data=values((10, 7)), chunks=(4, 3))
    some = f.create_dataset("some_chunks", (10, 7), "i2", chunks=(4, 3), fillvalue=7)
    some[4:8, 3:6] = values((10, 7))[4:8, 3:6]
    f.create_dataset("cube", data=values((3, 4, 5), "f4"), chunks=(2, 3, 2))
    if not filters:
        return
    f.create_dataset("gzip", data=values((20, 7)), chunks=(8, 3), compression="gzip")
    f.create_dataset("shuffle", data=values((20, 7), "f4"), chunks=(8, 7), shuffle=True)
    f.create_dataset("fletcher32", data=values((21,), "u1"), chunks=(7,), fletcher32=True)
    f.create_dataset("all_filters", data=values((20, 7), "i8"), chunks=(8, 3), compression="gzip",
                     shuffle=True, fletcher32=True)
    f.create_dataset("lzf", data=values((20, 7)), chunks=(8, 7), compression="lzf")


def links(f):
    f["linked/array"] = values((3,), "i4")
    f["linked/hard"] = f["linked/array"]
    f["linked/soft"] = h5py.SoftLink("/linked/array")
    f["linked/relative"] = h5py.SoftLink("./array")
    f["linked/through"] = h5py.SoftLink("group/array")
    f["linked/group"] = h5py.SoftLink("/linked")
    f["linked/dangling"] = h5py.SoftLink("/nowhere/array")
    f["linked/circle"] = h5py.SoftLink("/linked/circle")
    f["linked/outside"] = h5py.ExternalLink("other.h5", "/array")


def attributes(f):
    g = f.create_group("attributes")
    g.attrs["text"] = "of variable length: \u00e4"
    g.attrs["bytes"] = np.bytes_("of fixed length")
    g.attrs["names"] = np.array([b"a", b"longer", b""])
    g.attrs["texts"] = ["one", "two", "three"]
    g.attrs["none"] = []
    g.attrs["null"] = h5py.Empty("S1")
    g.attrs["number"] = 3
    f["named_type"] = np.dtype("<i2")
    f.create_dataset("of_named_type", data=values((3,)), dtype=f["named_type"])


def refused(f):
    f["refused/compound"] = np.zeros(2, [("a", "i4"), ("b", "f4")])
    f["refused/opaque"] = np.zeros(2, "V2")


def many(f, links, attributes):
    """More than fits into an object's header."""
    for i in range(links):
        f[f"many_links/link_{i:03}"] = h5py.SoftLink("/scalar")
    g = f.create_group("many_attributes")
    for i in range(attributes):
        g.attrs[f"number_{i:03}"] = np.bytes_(f"text {i}")
    return g


def fcpl():
    return h5py.h5p.create(h5py.h5p.FILE_CREATE)


def small_trees():
    """Nodes of four chunks, which keep files small and trees deep. Makes a superblock of version 1."""
    p = fcpl()
    library, = glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs",
                                      "libhdf5-*"))
    ctypes.CDLL(library).H5Pset_istore_k(ctypes.c_int64(p.id), 2)  # h5py has no name for it
    return p


def old():
    with create("old.h5", small_trees()) as f:
        dtypes(f), layouts(f), links(f), attributes(f), refused(f)
        many(f, 20, 10)


def latest():
    with create("latest.h5", libver="latest") as f:
        dtypes(f), layouts(f, filters=False), links(f), attributes(f)
        g = many(f, 40, 12)
        g.attrs["huge"] = np.bytes_("x" * 4100)


def indexes():
    """The indexes of chunks that only newer files have."""
    with create("indexes.h5", libver="latest") as f:
        early(f, "implicit", (10, 7), "i2", chunks=(4, 3))
        gzip = dict(compression="gzip")
        f.create_dataset("single", data=values((5, 7)), chunks=(5, 7))
        f.create_dataset("single_gzip", data=values((5, 7)), chunks=(5, 7), **gzip)
        f.create_dataset("fixed", data=values((10, 7)), chunks=(4, 3))
        f.create_dataset("fixed_gzip", data=values((10, 7)), chunks=(4, 3), **gzip)
        f.create_dataset("fixed_may_grow", data=values((10, 7)), chunks=(4, 3), maxshape=(20, 12))
        paged = f.create_dataset("fixed_paged", (1100,), "u1", chunks=(1,), fillvalue=7)
        paged[1040:1060] = values((1100,), "u1")[1040:1060]
        f.create_dataset("extensible", data=values((12,)), chunks=(2,), maxshape=(None,))
        f.create_dataset("extensible_gzip", data=values((60,)), chunks=(2,), maxshape=(None,),
                         **gzip)
        some = f.create_dataset("extensible_super", (400,), "u1", chunks=(1,), maxshape=(None,),
                                fillvalue=7)
        some[300:310] = values((400,), "u1")[300:310]
        f.create_dataset("extensible_second", data=values((5, 7)), chunks=(2, 2),
                         maxshape=(5, None))
        f.create_dataset("extensible_middle", data=values((3, 4, 5)), chunks=(2, 3, 2),
                         maxshape=(6, None, 5))
        f.create_dataset("btree_gzip", data=values((5, 7)), chunks=(2, 2), maxshape=(None, None),
                         **gzip)
        f.create_dataset("btree_deep", data=values((10, 12), "u1"), chunks=(1, 1),
                         maxshape=(None, None))


def frames():
    """Other superblocks and widths of addresses."""
    user_block, narrow = fcpl(), small_trees()
    user_block.set_userblock(512)
    narrow.set_sizes(4, 4)
    v18 = (h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)
    for name, p, options in [("user_block.h5", user_block, {}), ("narrow.h5", narrow, {}),
                             ("superblock2.h5", fcpl(), dict(bounds=v18))]:
        with create(name, p, **options) as f:
            f["array"] = values((2, 3), "f4")
            f["group/scalar"] = np.float32(2.5)
            f["group"].attrs["names"] = np.array([b"a", b"longer"])
            if name == "narrow.h5":
                f.create_dataset("chunked", data=values((10,)), chunks=(4,))
                f["group"].attrs["text"] = "of variable length"
    with open(os.path.join(FOLDER, "user_block.h5"), "r+b") as f:
        f.write(b"#!/bin/sh\n")


os.makedirs(FOLDER, exist_ok=True)
old(), latest(), indexes(), frames()
print("\n".join(f"{os.path.getsize(os.path.join(FOLDER, n)):7} {n}" for n in sorted(
    os.listdir(FOLDER))))
