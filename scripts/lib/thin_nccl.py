"""Makes a copy of NCCL that has the code of a few kinds of GPU only, so that it compresses well.

What is left out is set to zero, so everything stays where it was. That is the code of other kinds of GPU, code that is
needed only to link (`__nv_relfatbin`), and what debuggers read. A file without the expected layout is refused.
"""
import struct

SECTION_HEADER = struct.Struct("<IIQQQQ")
# A container of device code: its magic number, its version, and the bytes of its header and of its entries.
CONTAINER = struct.Struct("<IHHQ")
CONTAINER_MAGIC = 0xBA55ED50
# An entry of a container: its kind, a number that is not used here, and the bytes of its header and of its code.
ENTRY = struct.Struct("<HHIQ")
# Where an entry's header has the architecture, such as 90 for sm_90.
ARCHITECTURE = 28
MACHINE_CODE = 2


def sections(data):
    """Returns {name: (offset, bytes)} of the sections of an ELF file of 64 bits."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("it is no ELF file of 64 bits")
    table, = struct.unpack_from("<Q", data, 0x28)
    entry, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [SECTION_HEADER.unpack_from(data, table + i * entry) for i in range(count)]
    begin = headers[names][4]
    named = {}
    for name, _, _, _, offset, size in headers:
        end = data.index(b"\0", begin + name)
        named[data[begin + name:end].decode()] = (offset, size)
    return named


def thin(data, architectures):
    """Leaves in `data`, a bytearray, the machine code for `architectures` alone. Returns the ones that were found."""
    found = set()
    named = sections(data)
    for name, (offset, size) in named.items():
        if name == "__nv_relfatbin" or name.startswith(".debug_"):
            data[offset:offset + size] = bytes(size)
    offset, size = named.get(".nv_fatbin", (0, 0))
    at, end = offset, offset + size
    while at + CONTAINER.size <= end:
        magic, _, header, inner = CONTAINER.unpack_from(data, at)
        if magic != CONTAINER_MAGIC:
            at += 8
            continue
        at += header
        last = at + inner
        while at < last:
            kind, _, header, code = ENTRY.unpack_from(data, at)
            architecture, = struct.unpack_from("<I", data, at + ARCHITECTURE)
            if header == 0 or at + header + code > end:
                raise ValueError("its device code has another layout")
            if kind == MACHINE_CODE and architecture not in architectures:
                data[at + header:at + header + code] = bytes(code)
            elif kind == MACHINE_CODE:
                found.add(architecture)
            at += header + code
    if not found:
        raise ValueError(f"it has no code for {', '.join(f'sm_{a}' for a in sorted(architectures))}")
    return found
