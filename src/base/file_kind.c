/* file_kind.c - magic numbers, the few containers that need a second look, and text. */
#include "base/file_kind.h"

#include "base/utf8.h"

#define BOM "\xEF\xBB\xBF"

/* --- text --- */

/* A control character that no text holds. Those of terminals (BEL, BS, ESC) do occur in logs. */
static bool is_odd_control(unsigned char c)
{
    return c < 0x07 || (c >= 0x0E && c < 0x20 && c != 0x1B) || c == 0x7F;
}

/* An encoding of one byte per character. No text uses the places of the upper half that
 * Windows-1252 leaves empty. */
static bool is_latin(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (is_odd_control(c) || c == 0x81 || c == 0x8D || c == 0x8F || c == 0x90 || c == 0x9D)
            return false;
    }
    return true;
}

static bool is_utf8(struct str s)
{
    s.n -= utf8_incomplete_tail(s);
    return str_find_char(s, 0) == STR_NONE && utf8_is_valid(s);
}

/* After its BOM: no U+0000, and surrogates in pairs unless the end cuts one. */
static bool is_utf16(struct str s)
{
    bool is_big = str_starts(s, S("\xFE\xFF")), wants_low = false;

    if (!is_big && !str_starts(s, S("\xFF\xFE")))
        return false;
    for (size_t i = 2; i + 1 < s.n; i += 2) {
        unsigned a = (unsigned char)s.p[i], b = (unsigned char)s.p[i + 1];
        unsigned unit = is_big ? a << 8 | b : b << 8 | a;
        bool is_low = unit >= 0xDC00 && unit < 0xE000;

        if (unit == 0 || is_low != wants_low)
            return false;
        wants_low = unit >= 0xD800 && unit < 0xDC00;
    }
    return true;
}

/* An svg element after at most a declaration, comments and a doctype. */
static bool is_svg(struct str s)
{
    if (str_starts(s, S(BOM)))
        s = str_skip(s, sizeof BOM - 1);
    for (;;) {
        size_t end;

        s = str_trim(s);
        if (str_starts(s, S("<svg")))
            return s.n > 4 &&
                   (s.p[4] == '>' || s.p[4] == ' ' || (s.p[4] >= '\t' && s.p[4] <= '\r'));
        if (str_starts(s, S("<!--")))
            end = str_find(s, S("-->"));
        else if (str_starts(s, S("<?xml")) || str_starts(s, S("<!DOCTYPE svg")))
            end = str_find_char(s, '>');
        else
            return false;
        if (end == STR_NONE)
            return false;
        s = str_skip(s, end + 1);
        if (str_starts(s, S("->")))
            s = str_skip(s, 2);
    }
}

static bool find_text(struct str head, struct file_kind *ret)
{
    *ret = (struct file_kind){FILE_TEXT, "text/plain", "a text file"};
    if (head.n == 0)
        ret->name = "an empty file";
    else if (is_utf16(head))
        ret->name = "a UTF-16 text file";
    else if (is_utf8(head) && is_svg(head))
        *ret = (struct file_kind){FILE_TEXT, "image/svg+xml", "an SVG image"};
    else if (is_utf8(head))
        ;
    else if (is_latin(head))
        ret->name = "a text file that is not UTF-8";
    else
        return false;
    return true;
}

/* --- magic numbers --- */

struct magic {
    size_t at;
    struct str bytes;
    struct file_kind kind;
};
#define MAGIC(at, bytes, class, mime, name)                                                        \
    {                                                                                              \
        at, {"" bytes, sizeof(bytes) - 1},                                                         \
        {                                                                                          \
            class, mime, name                                                                      \
        }                                                                                          \
    }

/* No text begins like these. */
static const struct magic strong[] = {
    MAGIC(0, "\x89PNG\r\n\x1A\n", FILE_IMAGE, "image/png", "a PNG image"),
    MAGIC(0, "\xFF\xD8\xFF", FILE_IMAGE, "image/jpeg", "a JPEG image"),
    MAGIC(0, "GIF87a", FILE_IMAGE, "image/gif", "a GIF image"),
    MAGIC(0, "GIF89a", FILE_IMAGE, "image/gif", "a GIF image"),
    MAGIC(0, "II*\0", FILE_IMAGE, "image/tiff", "a TIFF image"),
    MAGIC(0, "MM\0*", FILE_IMAGE, "image/tiff", "a TIFF image"),
    MAGIC(0, "\0\0\1\0", FILE_IMAGE, "image/vnd.microsoft.icon", "an icon"),
    MAGIC(0, "\xFF\x0A", FILE_IMAGE, "image/jxl", "a JPEG XL image"),
    MAGIC(0, "\0\0\0\x0CJXL \r\n\x87\n", FILE_IMAGE, "image/jxl", "a JPEG XL image"),
    MAGIC(0, "\0\0\0\x0CjP  \r\n\x87\n", FILE_IMAGE, "image/jp2", "a JPEG 2000 image"),
    MAGIC(0, "8BPS\0\1", FILE_IMAGE, "image/vnd.adobe.photoshop", "a Photoshop image"),
    MAGIC(0, "%PDF-", FILE_PDF, "application/pdf", "a PDF document"),
    MAGIC(0, "PK\3\4", FILE_BINARY, "application/zip", "a ZIP archive"),
    MAGIC(0, "PK\5\6", FILE_BINARY, "application/zip", "an empty ZIP archive"),
    MAGIC(0, "\x1F\x8B\x08", FILE_BINARY, "application/gzip", "a gzip archive"),
    MAGIC(0,
          "\xFD"
          "7zXZ\0",
          FILE_BINARY, "application/x-xz", "an XZ archive"),
    MAGIC(0, "\x28\xB5\x2F\xFD", FILE_BINARY, "application/zstd", "a Zstandard archive"),
    MAGIC(0, "7z\xBC\xAF\x27\x1C", FILE_BINARY, "application/x-7z-compressed", "a 7z archive"),
    MAGIC(0, "\x04\x22\x4D\x18", FILE_BINARY, "application/x-lz4", "an LZ4 archive"),
    MAGIC(0, "Rar!\x1A\x07", FILE_BINARY, "application/vnd.rar", "a RAR archive"),
    MAGIC(257, "ustar", FILE_BINARY, "application/x-tar", "a tar archive"),
    MAGIC(0, "!<arch>\ndebian-binary", FILE_BINARY, "application/vnd.debian.binary-package",
          "a Debian package"),
    MAGIC(0, "!<arch>\n", FILE_BINARY, "application/x-archive", "a static library"),
    MAGIC(0, "\xED\xAB\xEE\xDB", FILE_BINARY, "application/x-rpm", "an RPM package"),
    MAGIC(0,
          "\x7F"
          "ELF",
          FILE_BINARY, "application/x-elf", "an ELF program"),
    MAGIC(0, "\xFE\xED\xFA\xCE", FILE_BINARY, "application/x-mach-binary", "a Mach-O program"),
    MAGIC(0, "\xFE\xED\xFA\xCF", FILE_BINARY, "application/x-mach-binary", "a Mach-O program"),
    MAGIC(0, "\xCE\xFA\xED\xFE", FILE_BINARY, "application/x-mach-binary", "a Mach-O program"),
    MAGIC(0, "\xCF\xFA\xED\xFE", FILE_BINARY, "application/x-mach-binary", "a Mach-O program"),
    MAGIC(0, "\0asm", FILE_BINARY, "application/wasm", "a WebAssembly module"),
    MAGIC(0,
          "BC\xC0"
          "\xDE",
          FILE_BINARY, "application/x-llvm", "LLVM bitcode"),
    MAGIC(0, "dex\n03", FILE_BINARY, "application/vnd.android.dex", "an Android program"),
    MAGIC(0,
          "\x1B"
          "Lua",
          FILE_BINARY, "application/x-lua-bytecode", "Lua bytecode"),
    MAGIC(0, "SQLite format 3\0", FILE_BINARY, "application/vnd.sqlite3", "an SQLite database"),
    MAGIC(0, "\x89HDF\r\n\x1A\n", FILE_BINARY, "application/x-hdf5", "an HDF5 file"),
    MAGIC(0, "\x93NUMPY", FILE_BINARY, "application/x-numpy", "a NumPy array"),
    MAGIC(0, "ARROW1\0\0", FILE_BINARY, "application/vnd.apache.arrow.file", "an Arrow file"),
    MAGIC(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", FILE_BINARY, "application/x-ole-storage",
          "an old Microsoft Office document"),
    MAGIC(0, "\xDE\x12\x04\x95", FILE_BINARY, "application/x-gettext-translation",
          "a gettext catalogue"),
    MAGIC(0, "\x95\x04\x12\xDE", FILE_BINARY, "application/x-gettext-translation",
          "a gettext catalogue"),
    MAGIC(0, "PACK\0\0\0", FILE_BINARY, "application/x-git-packed-objects", "a git pack"),
    MAGIC(0, "\xFFtOc", FILE_BINARY, "application/x-git-packed-objects-toc", "a git pack index"),
    MAGIC(0, "DIRC\0\0\0", FILE_BINARY, "application/x-git-index", "a git index"),
    MAGIC(0, "OTTO\0", FILE_BINARY, "font/otf", "an OpenType font"),
    MAGIC(0, "ttcf\0", FILE_BINARY, "font/collection", "a font collection"),
    MAGIC(0, "\0\1\0\0\0", FILE_BINARY, "font/ttf", "a TrueType font"),
    MAGIC(0, "OggS\0", FILE_AUDIO, "audio/ogg", "an Ogg file"),
    MAGIC(0, "MThd\0\0\0\6", FILE_AUDIO, "audio/midi", "a MIDI file"),
    MAGIC(0, "\x1A\x45\xDF\xA3", FILE_VIDEO, "video/matroska", "a Matroska video"),
    MAGIC(0, "\0\0\1\xBA", FILE_VIDEO, "video/mpeg", "an MPEG video"),
    MAGIC(0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11", FILE_VIDEO, "video/x-ms-asf",
          "a Windows Media file"),
    MAGIC(0, "FLV\1", FILE_VIDEO, "video/x-flv", "a Flash video"),
};

/* Words that a text may begin with: checked only for what is not text. */
static const struct magic weak[] = {
    MAGIC(0, "BM", FILE_IMAGE, "image/bmp", "a BMP image"),
    MAGIC(0, "BZh", FILE_BINARY, "application/x-bzip2", "a bzip2 archive"),
    MAGIC(0, "MZ", FILE_BINARY, "application/vnd.microsoft.portable-executable",
          "a Windows program"),
    MAGIC(0, "wOFF", FILE_BINARY, "font/woff", "a WOFF font"),
    MAGIC(0, "wOF2", FILE_BINARY, "font/woff2", "a WOFF2 font"),
    MAGIC(0, "PAR1", FILE_BINARY, "application/vnd.apache.parquet", "a Parquet file"),
    MAGIC(0, "Obj\1", FILE_BINARY, "application/vnd.apache.avro", "an Avro file"),
    MAGIC(0, "ID3", FILE_AUDIO, "audio/mpeg", "an MP3 file"),
    MAGIC(0, "fLaC", FILE_AUDIO, "audio/flac", "a FLAC file"),
    MAGIC(0, "#!AMR", FILE_AUDIO, "audio/amr", "an AMR file"),
    MAGIC(0, "\x03\xF3\r\n", FILE_BINARY, "application/x-python-code", "compiled Python"),
};

static bool has_at(struct str head, size_t at, struct str bytes)
{
    return str_starts(str_skip(head, at), bytes);
}

static bool find_magic(const struct magic *list, size_t n, struct str head, struct file_kind *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (has_at(head, list[i].at, list[i].bytes)) {
            *ret = list[i].kind;
            return true;
        }
    }
    return false;
}

/* --- containers --- */

static const struct magic riff_forms[] = {
    MAGIC(8, "WEBP", FILE_IMAGE, "image/webp", "a WebP image"),
    MAGIC(8, "WAVE", FILE_AUDIO, "audio/wav", "a WAV file"),
    MAGIC(8, "AVI ", FILE_VIDEO, "video/x-msvideo", "an AVI video"),
};

/* Major brands of ISO base media files; all others count as MP4. */
static const struct magic brands[] = {
    MAGIC(8, "avif", FILE_IMAGE, "image/avif", "an AVIF image"),
    MAGIC(8, "avis", FILE_IMAGE, "image/avif", "an AVIF image"),
    MAGIC(8, "hei", FILE_IMAGE, "image/heic", "a HEIC image"),
    MAGIC(8, "hev", FILE_IMAGE, "image/heic", "a HEIC image"),
    MAGIC(8, "mif1", FILE_IMAGE, "image/heif", "a HEIF image"),
    MAGIC(8, "msf1", FILE_IMAGE, "image/heif", "a HEIF image"),
    MAGIC(8, "M4A", FILE_AUDIO, "audio/mp4", "an M4A file"),
    MAGIC(8, "M4B", FILE_AUDIO, "audio/mp4", "an M4B audio book"),
    MAGIC(8, "qt  ", FILE_VIDEO, "video/quicktime", "a QuickTime video"),
    MAGIC(8, "", FILE_VIDEO, "video/mp4", "an MP4 video"),
};

#define OFFICE "application/vnd.openxmlformats-officedocument."

/* Formats with a type of their own as their first entry, uncompressed: the data is at byte 38. */
static const struct magic zip_types[] = {
    MAGIC(38, "application/epub+zip", FILE_BINARY, "application/epub+zip", "an EPUB book"),
    MAGIC(38, "application/vnd.oasis.opendocument.text", FILE_BINARY,
          "application/vnd.oasis.opendocument.text", "an OpenDocument text"),
    MAGIC(38, "application/vnd.oasis.opendocument.spreadsheet", FILE_BINARY,
          "application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet"),
    MAGIC(38, "application/vnd.oasis.opendocument.presentation", FILE_BINARY,
          "application/vnd.oasis.opendocument.presentation", "an OpenDocument presentation"),
};

/* Formats that the name of an entry near the start identifies. */
static const struct magic zip_entries[] = {
    MAGIC(0, "word/", FILE_BINARY, OFFICE "wordprocessingml.document", "a Word document"),
    MAGIC(0, "xl/", FILE_BINARY, OFFICE "spreadsheetml.sheet", "an Excel workbook"),
    MAGIC(0, "ppt/", FILE_BINARY, OFFICE "presentationml.presentation",
          "a PowerPoint presentation"),
    MAGIC(0, "AndroidManifest.xml", FILE_BINARY, "application/vnd.android.package-archive",
          "an Android package"),
    MAGIC(0, "META-INF/", FILE_BINARY, "application/java-archive", "a Java archive"),
};

/* Looks at the names of the entries whose headers are in the head. Keeps *ret if none decides. */
static void look_into_zip(struct str head, struct file_kind *ret)
{
    if (has_at(head, 30, S("mimetype")) && find_magic(zip_types, ARRAY_LEN(zip_types), head, ret))
        return;
    for (struct str rest = head;;) {
        size_t at = str_find(rest, S("PK\3\4"));

        if (at == STR_NONE ||
            find_magic(zip_entries, ARRAY_LEN(zip_entries), str_skip(rest, at + 30), ret))
            return;
        rest = str_skip(rest, at + 4);
    }
}

/* 0xCAFEBABE begins Java classes and Mach-O programs for several machines. It is followed by the
 * version of the class, from 45 on, or the number of machines. */
static bool find_cafebabe(struct str head, struct file_kind *ret)
{
    if (!str_starts(head, S("\xCA\xFE\xBA\xBE")) || head.n < 8)
        return false;
    if (head.p[4] == 0 && head.p[5] == 0 && head.p[6] == 0 && (unsigned char)head.p[7] < 45)
        *ret = (struct file_kind){FILE_BINARY, "application/x-mach-binary",
                                  "a universal Mach-O program"};
    else
        *ret = (struct file_kind){FILE_BINARY, "application/java-vm", "a Java class"};
    return true;
}

static bool find_container(struct str head, struct file_kind *ret)
{
    if (str_starts(head, S("RIFF")) && find_magic(riff_forms, ARRAY_LEN(riff_forms), head, ret))
        return true;
    if (head.n >= 12 && head.p[0] == 0 && has_at(head, 4, S("ftyp")))
        return find_magic(brands, ARRAY_LEN(brands), head, ret);
    return find_cafebabe(head, ret);
}

/* Decides what the magic number leaves open. */
static void refine(struct str head, struct file_kind *ret)
{
    struct str start = str_slice(head, 0, 64);

    if (str_starts(head, S("PK\3\4")))
        look_into_zip(head, ret);
    else if (str_starts(head, S("OggS")) && str_find(start, S("\x80theora")) != STR_NONE)
        *ret = (struct file_kind){FILE_VIDEO, "video/ogg", "an Ogg video"};
    else if (str_starts(head, S("\x1A\x45\xDF\xA3")) && str_find(start, S("webm")) != STR_NONE)
        *ret = (struct file_kind){FILE_VIDEO, "video/webm", "a WebM video"};
}

/* --- a few bits only: checked last --- */

static bool find_by_bits(struct str head, struct file_kind *ret)
{
    const unsigned char *p = (const unsigned char *)head.p;

    if (head.n < 4)
        return false;
    /* An MPEG audio frame: sync, a version, layer III, a bit rate and a sampling rate that exist.
     */
    if (p[0] == 0xFF && (p[1] & 0xE6) == 0xE2 && (p[1] & 0x18) != 0x08 && (p[2] & 0xF0) != 0xF0 &&
        (p[2] & 0x0C) != 0x0C)
        *ret = (struct file_kind){FILE_AUDIO, "audio/mpeg", "an MP3 file"};
    else if (p[0] == 0xFF && (p[1] & 0xF6) == 0xF0)
        *ret = (struct file_kind){FILE_AUDIO, "audio/aac", "an AAC file"};
    /* Python 3 counts its bytecode versions from 3000. */
    else if (p[1] >= 0x0B && p[1] <= 0x0F && p[2] == '\r' && p[3] == '\n')
        *ret = (struct file_kind){FILE_BINARY, "application/x-python-code", "compiled Python"};
    else
        return false;
    return true;
}

struct file_kind file_kind_of(struct str head)
{
    struct file_kind kind;

    if (find_container(head, &kind))
        return kind;
    if (find_magic(strong, ARRAY_LEN(strong), head, &kind)) {
        refine(head, &kind);
        return kind;
    }
    if (find_text(head, &kind) || find_magic(weak, ARRAY_LEN(weak), head, &kind) ||
        find_by_bits(head, &kind))
        return kind;
    return (struct file_kind){FILE_BINARY, "application/octet-stream", "a binary file"};
}
