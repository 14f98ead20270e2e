# SPDX-License-Identifier: BSD-3-Clause
"""Small images of every format whose metadata say something else than usual: tags, descriptions, header lines, attributes.

Each maker takes a random.Random and a folder, writes one image with one to three changes, and returns its path. Voxels stay as they are:
7 x 6 x 5 values that differ along all axes.
"""
import json
import struct
import zlib

import h5py
import numpy as np

SIZE = (5, 6, 7)  # z, y, x
UNITS = ["um", "\\u00B5m", "micron", "mm", "nm", "cm", "m", "inch", "pixel", "", "furlong", "Micron", "angstrom"]
NUMBERS = ["0", "-1", "1", "2", "3", "-20.0", "0.5", "20", "1e3", "1e-3", "nan", "inf", "abc", "1e30", "5", "6", "2147483648"]


def sample(dtype="u1", shape=SIZE):
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) * 7 % 251).astype(dtype)


def some(random, *choices):
    return random.choice(choices)


def imagej_lines(random, planes):
    lines = {"images": str(planes), "slices": str(planes), "unit": some(random, *UNITS), "spacing": some(random, "2.0", "-2.0", "1.0", "30")}
    for _ in range(random.randint(0, 3)):
        key = some(random, "images", "slices", "channels", "frames", "spacing", "unit", "yunit", "zunit", "cf", "c0", "c1", "loop", "min")
        value = some(random, *UNITS) if "unit" in key else some(random, *NUMBERS)
        if random.random() < 0.2:
            lines.pop(key, None)
        else:
            lines[key] = value
    if random.random() < 0.15:
        lines.update({"cf": "0", "c0": "-32768.0", "c1": "1.0", "vunit": "gray value"})
    if random.random() < 0.2:
        channels, slices = some(random, (1, planes), (planes, 1), (2, planes // 2), (planes // 2, 2))
        lines.update({"channels": str(channels), "slices": str(slices), "hyperstack": "true"})
    return "ImageJ=1.54f\n" + "".join(f"{k}={v}\n" for k, v in lines.items())


def ome_xml(random, planes):
    sizes = {"SizeX": SIZE[2], "SizeY": SIZE[1], "SizeZ": planes, "SizeC": 1, "SizeT": 1}
    if random.random() < 0.4:
        sizes.update(dict(zip(("SizeZ", "SizeC", "SizeT"), some(random, (1, planes, 1), (1, 1, planes), (planes // 2, 2, 1), (1, 2, planes // 2), (planes + 2, 1, 1), (planes - 1, 1, 1)))))
    widths = {}
    for axis in "XYZ":
        if random.random() < 0.85:
            widths[f"PhysicalSize{axis}"] = some(random, "2.0", "2.0", "5", *NUMBERS[:10])
            if random.random() < 0.4:
                widths[f"PhysicalSize{axis}Unit"] = some(random, "µm", "mm", "nm", "&#181;m", "pixel", "m", "Å")
    attributes = " ".join(f'{k}="{v}"' for k, v in {**sizes, **widths}.items())
    data = some(random, '<TiffData IFD="0" PlaneCount="%d"/>' % planes, "<TiffData/>", "", '<TiffData IFD="1" PlaneCount="2"/>',
                "".join(f'<TiffData FirstZ="{z}" IFD="{planes - 1 - z}"/>' for z in range(planes)))
    return ('<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
            f'<Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint8" {attributes}>{data}</Pixels></Image></OME>')


def shaped(random, planes):
    shape = some(random, [planes, 6, 7], [1, planes, 6, 7], [2, planes // 2, 6, 7], [planes, 1, 6, 7, 1], [planes // 2, 2, 6, 7], [planes - 1, 6, 7])
    return json.dumps({"shape": shape, **({"axes": "TZYX"[-len(shape):]} if random.random() < 0.3 else {})})


def tiff(random, folder):
    import tifffile
    planes = some(random, 4, 6)
    dtype = some(random, "u1", "u1", "u2", "i2", "f4", "u4", "i1", "?")
    data = sample(dtype, (planes, *SIZE[1:])) if dtype != "?" else sample("u1", (planes, *SIZE[1:])) > 120
    path = folder / some(random, "a.tif", "a.tiff", "a.raw")
    describe = some(random, imagej_lines, imagej_lines, ome_xml, ome_xml, shaped, lambda *_: "")
    order = some(random, "<", "<", ">")
    photometric = some(random, "minisblack", "minisblack", "minisblack", "miniswhite", "palette" if dtype == "u1" else "minisblack")
    resolution = {"resolution": some(random, (0.5, 0.5), (1, 1), (0.5, 0.25), (5000, 5000), (300, 300), (2540, 2540), (5000, 2500)),
                  "resolutionunit": some(random, "NONE", "NONE", "CENTIMETER", "INCH")} if random.random() < 0.85 else {}
    how = {"photometric": photometric, **resolution}
    if photometric == "palette":
        ramp = np.arange(256, dtype="u2") * 257
        how["colormap"] = some(random, np.array([ramp] * 3), np.array([ramp[::-1]] * 3), np.array([ramp, ramp[::-1], ramp]))
    if random.random() < 0.2:
        how["compression"] = "zlib"
    elif random.random() < 0.2:
        how["tile"] = (16, 16)
    extra = [(274, 3, 1, random.randint(1, 8), True)] if random.random() < 0.25 else []
    description = describe(random, planes)
    path.unlink(missing_ok=True)
    with tifffile.TiffWriter(path, byteorder=order, bigtiff=random.random() < 0.15, ome=False) as file:
        for n, page in enumerate(data):
            first = {"description": description.encode()} if n == 0 and description else {}
            if photometric == "miniswhite" and random.random() < 0.05:
                how["photometric"] = "minisblack"
            file.write(page, metadata=None, contiguous=False, extratags=extra, **how, **first)
        if random.random() < 0.08:
            file.write(data[0, ::2, ::2], subfiletype=1, metadata=None, photometric="minisblack")
    if random.random() < 0.25:
        patch_tag(random, path, order)
    return path


def patch_tag(random, path, order):
    """Changes the value of a tag of the first page that says how its pixels are meant, where it stands."""
    import tifffile
    with tifffile.TiffFile(path) as file:
        tags = [t for t in file.pages[0].tags.values() if t.code in (254, 258, 262, 266, 274, 277, 296, 317, 339) and t.count == 1]
        if not tags:
            return
        tag = random.choice(tags)
        value = random.choice({254: [1, 2, 4], 258: [1, 4, 8, 16, 32], 262: [0, 1, 2, 3, 4], 266: [1, 2], 274: list(range(10)), 277: [1, 2, 3], 296: [1, 2, 3],
                               317: [1, 2], 339: [1, 2, 3, 4, 5]}[tag.code])
        place, kind = tag.valueoffset, {3: "H", 4: "I"}[int(tag.dtype)]
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(struct.pack(order + kind, value))


def change_lines(random, lines, values):
    """Changes, drops, doubles or adds lines of `key separator value`."""
    for _ in range(random.randint(1, 3)):
        n = random.randrange(len(lines))
        key, separator, value = lines[n]
        kind = random.random()
        if kind < 0.12:
            lines.pop(n)
        elif kind < 0.18:
            lines.insert(n, lines[n])
        elif kind < 0.25 and len(value.split()) > 1:
            parts = value.split()
            random.shuffle(parts)
            lines[n] = (key, separator, " ".join(parts))
        elif kind < 0.35:
            lines[n] = (key, separator, some(random, *NUMBERS))
        elif kind < 0.5:
            parts = value.split()
            parts[random.randrange(len(parts))] = some(random, *NUMBERS)
            lines[n] = (key, separator, " ".join(parts))
        elif key in values:
            lines[n] = (key, separator, some(random, *values[key]))
    return "".join(f"{k}{s}{v}\n" for k, s, v in lines)


def meta(random, folder):
    dtype = some(random, "u1", "<u2", ">u2", "<i2", "<f4")
    name = {"u1": "MET_UCHAR", "u2": "MET_USHORT", "i2": "MET_SHORT", "f4": "MET_FLOAT"}[dtype[-2:]]
    pairs = [("ObjectType", "Image"), ("NDims", "3"), ("BinaryData", "True"), ("BinaryDataByteOrderMSB", str(dtype[0] == ">")),
             ("CompressedData", "False"), ("TransformMatrix", "1 0 0 0 1 0 0 0 1"), ("Offset", "0 0 0"), ("CenterOfRotation", "0 0 0"),
             ("ElementSpacing", "0.002 0.002 0.003"), ("DimSize", "7 6 5"), ("ElementType", name)]
    text = change_lines(random, [(k, " = ", v) for k, v in pairs], {
        "TransformMatrix": ["0 1 0 1 0 0 0 0 1", "-1 0 0 0 -1 0 0 0 1", "1 0.5 0 0 1 0 0 0 1", "2 0 0 0 1 0 0 0 1"],
        "ElementSpacing": ["0.002 -0.002 0.003", "1 1 1", "0.1 0.002 0.002", "2 2 3"], "DimSize": ["5 6 7", "6 7 5", "7 6 4", "42 5 1"],
        "BinaryDataByteOrderMSB": ["True", "False"], "ElementType": ["MET_UCHAR", "MET_CHAR", "MET_SHORT", "MET_INT", "MET_LONG"],
        "CompressedData": ["True"], "BinaryData": ["False"], "Offset": ["1 2 3", "0 0 0"]})
    if random.random() < 0.3:
        text += some(random, "ElementSize = 0.001 0.001 0.001\n", "HeaderSize = -1\n", "HeaderSize = 0\n", "ElementNumberOfChannels = 1\n", "DistanceUnits = um\n",
                     "AnatomicalOrientation = RAI\n", "ElementToIntensityFunctionSlope = 2\n", "Comment = nothing\n")
    path = folder / some(random, "a.mha", "a.dat")
    path.write_bytes((text + "ElementDataFile = LOCAL\n").encode() + sample(dtype).tobytes())
    return path


def nrrd(random, folder):
    dtype = some(random, "u1", "<u2", ">u2", "<i2", "<f4")
    name = {"u1": "uint8", "u2": "uint16", "i2": "int16", "f4": "float"}[dtype[-2:]]
    packed = random.random() < 0.3
    fields = [("type", name), ("dimension", "3"), ("sizes", "7 6 5"), ("endian", "big" if dtype[0] == ">" else "little"), ("encoding", "gzip" if packed else "raw")]
    if random.random() < 0.5:
        fields += [("space", some(random, "left-posterior-superior", "right-anterior-superior", "scanner-xyz")), ("space origin", "(0,0,0)"), ("space directions", some(
            random, "(2,0,0) (0,2,0) (0,0,3)", "(-2,0,0) (0,2,0) (0,0,-3)", "(0,2,0) (2,0,0) (0,0,3)", "(1.2,1.6,0) (-1.6,1.2,0) (0,0,3)", "(2,1,0) (0,2,0) (0,0,3)",
            "(2,0,0) (0,2,0) (0,0,90)")), ("space units", some(random, '"mm" "mm" "mm"', '"um" "um" "um"', '"" "" ""'))]
    else:
        fields += [("spacings", some(random, "2 2 3", "-2 2 3", "2 2 90", "1 1 1", "nan nan nan")), ("units", some(random, '"mm" "mm" "mm"', '"um" "um" "um"', '"micron" "micron" "micron"'))]
    text = change_lines(random, [(k, ": ", v) for k, v in fields], {
        "type": ["uint8", "int8", "int16", "ushort", "uint32", "float"], "sizes": ["5 6 7", "7 5 6", "42 5 1", "7 6 4"], "endian": ["little", "big"],
        "encoding": ["raw", "gzip", "ascii", "hex"], "kinds": ["domain domain domain", "list domain domain"]})
    if random.random() < 0.2:
        text += some(random, "kinds: domain domain domain\n", "kinds: RGB-color domain domain\n", "content: rock\n", "centers: cell cell cell\n", "byte skip: -1\n",
                     "axis mins: 0 0 0\n", "note:=a user's\n", "# a comment\n", "thicknesses: 1 1 1\n")
    body = sample(dtype).tobytes()
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    path = folder / some(random, "a.nrrd", "a.bin")
    path.write_bytes(f"NRRD000{some(random, 4, 5)}\n{text}\n".encode() + (packer.compress(body) + packer.flush() if packed else body))
    return path


def nifti(random, folder):
    import nibabel
    dtype = some(random, np.uint8, np.int16, np.uint16, np.float32)
    affine = np.diag([2.0, 2.0, 3.0, 1.0])
    kind = random.random()
    if kind < 0.2:
        affine[:3, :3] = np.array([[0, 2, 0], [-2, 0, 0], [0, 0, 3]])
    elif kind < 0.3:
        affine[:3, :3] = np.array([[1.2, -1.6, 0], [1.6, 1.2, 0], [0, 0, -3]])
    elif kind < 0.4:
        affine[0, 1] = 1.0
    image = (nibabel.Nifti2Image if random.random() < 0.3 else nibabel.Nifti1Image)(np.asfortranarray(sample(dtype).transpose()), affine)
    header = image.header
    header.set_xyzt_units(some(random, "mm", "micron", "meter", "unknown"))
    path = folder / some(random, "a.nii", "a.nii.gz")
    nibabel.save(image, path)
    if path.suffix == ".nii":
        first = image.header.sizeof_hdr == 348
        for _ in range(random.randint(0, 3)):
            at, form, values = some(random, *([(76 + 4 * random.randint(1, 3), "<f", [2, -2, 1, 0, 5, 90, float("nan")]), (252, "<h", [0, 1, 2]), (254, "<h", [0, 1, 2]), (112, "<f", [0, 1, 2, float("nan")]),
                                               (116, "<f", [0, 1, -5]), (123, "<B", [0, 1, 2, 3, 4, 10]), (280, "<f", [2, 4, 0]), (40, "<h", [2, 3, 4, 5]), (42 + 2 * random.randint(0, 4), "<h", [1, 2, 5, 6, 7]),
                                               (70, "<h", [2, 4, 512, 16, 256, 128])] if first else [(104 + 8 * random.randint(1, 3), "<d", [2, -2, 1, 0, 5, 90]), (344, "<i", [0, 1]), (348, "<i", [0, 1]), (176, "<d", [0, 1, 2]),
                                                                                                  (500, "<i", [0, 1, 2, 3]), (16, "<q", [2, 3, 4]), (24 + 8 * random.randint(0, 3), "<q", [1, 5, 6, 7])]))
            with open(path, "r+b") as file:
                file.seek(at)
                file.write(struct.pack(form, random.choice(values)))
    return path


def vti(random, folder):
    attributes = {"WholeExtent": "0 6 0 5 0 4", "Origin": "0 0 0", "Spacing": some(random, "2 2 3", "1 1 1", "2 2 90")}
    piece = "0 6 0 5 0 4"
    kind = random.random()
    if kind < 0.3:
        attributes["Direction"] = some(random, "1 0 0 0 1 0 0 0 1", "0 -1 0 1 0 0 0 0 1", "1 0.5 0 0 1 0 0 0 1", "2 0 0 0 1 0 0 0 1")
    elif kind < 0.5:
        attributes["WholeExtent"] = piece = some(random, "10 16 -5 0 3 7", "0 4 0 5 0 6", "0 5 0 4 0 6", "0 7 0 6 0 5")
    elif kind < 0.7:
        attributes["Spacing"] = some(random, "-2 2 3", "0 2 3", "2 2", "nan 2 3")
    attributes = " ".join(f'{k}="{v}"' for k, v in attributes.items())
    array = {"type": "UInt16", "Name": "g", "format": "ascii"}
    if random.random() < 0.25:
        array.update(some(random, {"NumberOfComponents": "1"}, {"NumberOfComponents": "2"}, {"type": "Int32"}, {"type": "UInt8"}, {"type": "Float32"}, {"Name": "h"}))
    array = " ".join(f'{k}="{v}"' for k, v in array.items())
    where = some(random, "PointData", "PointData", "CellData")
    path = folder / some(random, "a.vti", "a.dat")
    path.write_text(f'<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt32">\n<ImageData {attributes}>\n'
                    f'<Piece Extent="{piece}"><{where} Scalars="{some(random, "g", "g", "h")}"><DataArray {array}>\n' + " ".join(map(str, sample("u2").ravel()))
                    + f"\n</DataArray></{where}></Piece></ImageData></VTKFile>\n")
    return path


def numpy_file(random, folder):
    data = sample(some(random, "u1", "<u2", ">u2", ">f4", "<i8", "?"))
    if random.random() < 0.3:
        data = np.asfortranarray(data)
    if random.random() < 0.3:
        data = data.reshape(some(random, (7, 6, 5), (210,), (5, 42), (1, 5, 6, 7), (5, 6, 7, 1)))
    path = folder / some(random, "a.npy", "a.raw")
    with open(path, "wb") as file:
        np.lib.format.write_array(file, data, version=some(random, (1, 0), (2, 0), (3, 0)))
    return path


def hdf5(random, folder):
    path = folder / some(random, "a.h5", "a.nc", "a.mat", "a.raw")
    with h5py.File(path, "w", userblock_size=some(random, 0, 0, 512), libver=some(random, "earliest", "latest")) as file:
        data = file.create_dataset(some(random, "data", "exchange/data"), data=sample(some(random, "u1", "<u2", ">u2", "<f4", "<i4")).reshape(
            some(random, SIZE, SIZE, SIZE, (5, 42), (1, 5, 6, 7))))
        if random.random() < 0.7:
            data.attrs["element_size_um"] = some(random, [3.0, 2.0, 2.0], [-3.0, 2.0, 2.0], [90.0, 2.0, 2.0], [2.0, 2.0], [0.0, 2.0, 2.0], np.array([3, 2, 2], "i4"), "3 2 2", [float("nan"), 2.0, 2.0])
        if random.random() < 0.2:
            file.create_dataset("scale", data=np.arange(4.0))
    return path


def png(random, folder):
    plane = sample("u1")[0]
    bits = some(random, 8, 8, 16, 4, 1)
    colour = some(random, 0, 0, 3 if bits <= 8 else 0)
    if bits == 16:
        plane = plane.astype("u2") * 250 + 3
    values = plane & ((1 << min(bits, 8)) - 1) if bits < 16 else plane
    def packed(row):
        if bits == 16:
            return row.astype(">u2").tobytes()
        if bits == 8:
            return row.astype("u1").tobytes()
        each = 8 // bits
        row = np.concatenate([row, np.zeros(-len(row) % each, "u1")]).reshape(-1, each)
        return bytes(sum(int(v) << (8 - bits * (n + 1)) for n, v in enumerate(group)) for group in row)
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    ramp = [(255 * n // ((1 << min(bits, 8)) - 1),) * 3 for n in range(1 << min(bits, 8))]
    palette = some(random, ramp, ramp[::-1], [(r, 255 - r, r) for r, _, _ in ramp])
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 6, bits, colour, 0, 0, 0))
    if random.random() < 0.2:
        out += chunk(b"gAMA", struct.pack(">I", 45455))
    if colour == 3:
        out += chunk(b"PLTE", b"".join(bytes(c) for c in palette))
    if random.random() < 0.6:
        out += chunk(b"pHYs", struct.pack(">IIB", *some(random, (500000, 500000, 1), (500000, 250000, 1), (2835, 2835, 1), (2, 1, 0), (1, 1, 0), (0, 0, 1))))
    if random.random() < 0.2:
        out += chunk(b"tEXt", b"Comment\0a note")
    path = folder / some(random, "a.png", "a.tif", "a.img")
    path.write_bytes(out + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + packed(row) for row in values))) + chunk(b"IEND", b""))
    return path


MAKERS = {"TIFF": tiff, "MetaImage": meta, "NRRD": nrrd, "NIfTI": nifti, "VTI": vti, "NumPy": numpy_file, "HDF5": hdf5, "PNG": png}
