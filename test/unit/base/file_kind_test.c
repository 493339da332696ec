/* file_kind_test.c */
#include "test.h"

#include "base/file_kind.h"

static void assert_kind(struct str head, enum file_class class, const char *mime, const char *name)
{
    struct file_kind kind = file_kind_of(head);

    assert_string_equal(kind.mime, mime);
    assert_string_equal(kind.name, name);
    assert_int_equal(kind.class, class);
}

static void assert_mime(struct str head, enum file_class class, const char *mime)
{
    struct file_kind kind = file_kind_of(head);

    assert_string_equal(kind.mime, mime);
    assert_int_equal(kind.class, class);
}

static void assert_plain(struct str head, const char *name)
{
    assert_kind(head, FILE_TEXT, "text/plain", name);
}

static void assert_unknown(struct str head)
{
    assert_kind(head, FILE_BINARY, "application/octet-stream", "a binary file");
}

/* --- text --- */

TEST(valid_utf8_is_text)
{
    assert_plain(S(""), "an empty file");
    assert_plain(S("hello\n"), "a text file");
    assert_plain(S("\xEF\xBB\xBFhello"), "a text file");
    assert_plain(S("gr\xC3\xBC\xC3\x9F dich \xF0\x9F\x98\x80"), "a text file");
    assert_plain(S("\x1B[31mred\x1B[0m\a\r\n"), "a text file");
}

TEST(a_character_cut_at_the_end_of_the_head_is_still_text)
{
    assert_plain(S("abc\xE2\x82"), "a text file");
    assert_plain(S("abc\xF0\x9F\x98"), "a text file");
}

TEST(text_of_one_byte_a_character_is_text)
{
    assert_plain(S("gr\xFC\xDF dich"), "a text file that is not UTF-8");
    assert_plain(S("\x93quoted\x94 \x80 5"), "a text file that is not UTF-8");
}

TEST(utf16_is_text_only_with_a_bom)
{
    assert_plain(S("\xFF\xFEh\0i\0"), "a UTF-16 text file");
    assert_plain(S("\xFE\xFF\0h\0i"), "a UTF-16 text file");
    assert_plain(S("\xFF\xFE\x3D\xD8\0\xDE"), "a UTF-16 text file");
    assert_plain(S("\xFF\xFEh\0i"), "a UTF-16 text file");
    assert_unknown(S("h\0i\0"));
}

TEST(a_nul_or_an_odd_control_character_makes_it_binary)
{
    assert_unknown(S("hello\0world"));
    assert_unknown(S("\xFF\xFEh\0\0\0"));
    assert_unknown(S("\xFF\xFE\0\xDEh\0"));
    assert_unknown(S("\xC3\x28\x01\x02"));
    assert_unknown(S("abc\x81\xFF"));
}

TEST(a_text_that_begins_with_a_weak_magic_number_is_text)
{
    static const char *const texts[] = {"BMW and others\n", "MZ\n",          "ID3 tags\n",
                                        "BZh91 is bzip2\n", "PAR10\n",       "wOFF is a font\n",
                                        "RIFF raff WEBP\n", "fLaCk\n",       "PK\n",
                                        "PACK it\n",        "OTTO\n",        "GIF images\n",
                                        "OggSomething\n",   "SQLite format", "8BPS\n"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_mime(str_of(texts[i]), FILE_TEXT, "text/plain");
}

TEST(an_svg_image_is_text_of_its_own_type)
{
    static const char *const svgs[] = {
        "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- made by hand -->\n<svg>",
        "<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"x\" \"y\">\n<svg\n>",
    };

    for (size_t i = 0; i < ARRAY_LEN(svgs); i++)
        assert_kind(str_of(svgs[i]), FILE_TEXT, "image/svg+xml", "an SVG image");
    assert_plain(S("<!-- <svg> --><html>"), "a text file");
    assert_plain(S("<svgfoo>"), "a text file");
    assert_plain(S("<svg"), "a text file");
    assert_plain(S("<?xml version=\"1.0\""), "a text file");
}

/* --- the rest --- */

TEST(images_are_known_by_their_first_bytes)
{
    assert_kind(S("\x89PNG\r\n\x1A\n\0\0\0\rIHDR"), FILE_IMAGE, "image/png", "a PNG image");
    assert_mime(S("\xFF\xD8\xFF\xE0\0\x10JFIF"), FILE_IMAGE, "image/jpeg");
    assert_mime(S("GIF89a\1\0\1\0"), FILE_IMAGE, "image/gif");
    assert_mime(S("RIFF\x24\0\0\0WEBPVP8 "), FILE_IMAGE, "image/webp");
    assert_mime(S("BM\x46\0\0\0\0\0\0\0\x36\0\0\0"), FILE_IMAGE, "image/bmp");
    assert_mime(S("II*\0\x08\0\0\0"), FILE_IMAGE, "image/tiff");
    assert_mime(S("MM\0*\0\0\0\x08"), FILE_IMAGE, "image/tiff");
    assert_mime(S("\0\0\1\0\1\0\x10\x10"), FILE_IMAGE, "image/vnd.microsoft.icon");
    assert_mime(S("\0\0\0\x18"
                  "ftypheic\0\0\0\0"),
                FILE_IMAGE, "image/heic");
    assert_mime(S("\0\0\0\x1C"
                  "ftypavif\0\0\0\0"),
                FILE_IMAGE, "image/avif");
}

TEST(documents_and_archives_are_known_by_their_first_bytes)
{
    char tar[512] = "name.txt";

    memcpy(tar + 257, "ustar", 5);
    assert_kind(S("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"), FILE_PDF, "application/pdf", "a PDF document");
    assert_mime(S("\x1F\x8B\x08\0\0\0\0\0"), FILE_BINARY, "application/gzip");
    assert_mime(S("BZh91AY&SY\0\1"), FILE_BINARY, "application/x-bzip2");
    assert_mime(S("\xFD"
                  "7zXZ\0\0\4"),
                FILE_BINARY, "application/x-xz");
    assert_mime(S("\x28\xB5\x2F\xFD\x24\0"), FILE_BINARY, "application/zstd");
    assert_mime(S("7z\xBC\xAF\x27\x1C\0\4"), FILE_BINARY, "application/x-7z-compressed");
    assert_mime(str_make(tar, sizeof tar), FILE_BINARY, "application/x-tar");
    assert_mime(S("SQLite format 3\0\x10\0"), FILE_BINARY, "application/vnd.sqlite3");
    assert_mime(S("PAR1\x15\0\x15"), FILE_BINARY, "application/vnd.apache.parquet");
    assert_mime(S("PACK\0\0\0\2\0\0\0\1"), FILE_BINARY, "application/x-git-packed-objects");
}

#define ZIP_HEADER "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0"

TEST(a_zip_archive_is_known_by_what_is_in_it)
{
    assert_kind(S(ZIP_HEADER "a.txtdata"), FILE_BINARY, "application/zip", "a ZIP archive");
    assert_kind(S(ZIP_HEADER "[Content_Types].xml" ZIP_HEADER "word/document.xml"), FILE_BINARY,
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                "a Word document");
    assert_kind(S(ZIP_HEADER "[Content_Types].xml" ZIP_HEADER "xl/workbook.xml"), FILE_BINARY,
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                "an Excel workbook");
    assert_mime(S(ZIP_HEADER "META-INF/MANIFEST.MF"), FILE_BINARY, "application/java-archive");
    assert_mime(S(ZIP_HEADER "mimetypeapplication/epub+zip"), FILE_BINARY, "application/epub+zip");
    assert_mime(S("PK\3\4"), FILE_BINARY, "application/zip");
}

TEST(programs_are_known_by_their_first_bytes)
{
    assert_kind(S("\x7F"
                  "ELF\2\1\1\0"),
                FILE_BINARY, "application/x-elf", "an ELF program");
    assert_mime(S("\xCF\xFA\xED\xFE\7\0\0\1"), FILE_BINARY, "application/x-mach-binary");
    assert_mime(S("MZ\x90\0\3\0\0\0"), FILE_BINARY,
                "application/vnd.microsoft.portable-executable");
    assert_mime(S("\0asm\1\0\0\0"), FILE_BINARY, "application/wasm");
    assert_mime(S("\xA7\r\r\n\0\0\0\0"), FILE_BINARY, "application/x-python-code");
    assert_mime(S("\xCB\r\r\n\0\0\0\0"), FILE_BINARY, "application/x-python-code");
    assert_mime(S("\x03\xF3\r\n\1\2\3\4"), FILE_BINARY, "application/x-python-code");
}

TEST(java_classes_and_universal_programs_share_a_magic_number)
{
    assert_kind(S("\xCA\xFE\xBA\xBE\0\0\0\x34"), FILE_BINARY, "application/java-vm",
                "a Java class");
    assert_kind(S("\xCA\xFE\xBA\xBE\0\0\0\2"), FILE_BINARY, "application/x-mach-binary",
                "a universal Mach-O program");
}

TEST(sound_and_video_are_known_by_their_first_bytes)
{
    assert_mime(S("OggS\0\2\0\0"), FILE_AUDIO, "audio/ogg");
    assert_mime(S("ID3\4\0\0\0\0"), FILE_AUDIO, "audio/mpeg");
    assert_mime(S("\xFF\xFB\x90\x64\0\0"), FILE_AUDIO, "audio/mpeg");
    assert_mime(S("RIFF\x24\0\0\0WAVEfmt "), FILE_AUDIO, "audio/wav");
    assert_mime(S("fLaC\0\0\0\x22"), FILE_AUDIO, "audio/flac");
    assert_mime(S("\0\0\0\x20"
                  "ftypM4A \0\0\0\0"),
                FILE_AUDIO, "audio/mp4");
    assert_mime(S("\0\0\0\x20"
                  "ftypisom\0\0\2\0"),
                FILE_VIDEO, "video/mp4");
    assert_mime(S("\0\0\0\x14"
                  "ftypqt  \0\0\0\0"),
                FILE_VIDEO, "video/quicktime");
    assert_mime(S("\x1A\x45\xDF\xA3\x9F\x42\x82\x84webm"), FILE_VIDEO, "video/webm");
    assert_mime(S("\x1A\x45\xDF\xA3\x9F\x42\x82\x88matroska"), FILE_VIDEO, "video/matroska");
    assert_mime(S("RIFF\x24\0\0\0AVI LIST"), FILE_VIDEO, "video/x-msvideo");
}

TEST(fonts_are_known_by_their_first_bytes)
{
    assert_mime(S("wOFF\0\1\0\0"), FILE_BINARY, "font/woff");
    assert_mime(S("wOF2\0\1\0\0"), FILE_BINARY, "font/woff2");
    assert_mime(S("OTTO\0\x0C\0\x80"), FILE_BINARY, "font/otf");
    assert_mime(S("\0\1\0\0\0\x0F\0\x80"), FILE_BINARY, "font/ttf");
}

TEST(a_magic_number_that_is_cut_short_is_not_taken)
{
    assert_unknown(S("\x89PNG\r\n\x1A\0"));
    assert_unknown(S("\xCA\xFE\xBA\xBE\0"));
    assert_unknown(S("\0\0\0\x20"
                     "ftyp"));
}

RUN_TESTS(UNIT(valid_utf8_is_text), UNIT(a_character_cut_at_the_end_of_the_head_is_still_text),
          UNIT(text_of_one_byte_a_character_is_text), UNIT(utf16_is_text_only_with_a_bom),
          UNIT(a_nul_or_an_odd_control_character_makes_it_binary),
          UNIT(a_text_that_begins_with_a_weak_magic_number_is_text),
          UNIT(an_svg_image_is_text_of_its_own_type), UNIT(images_are_known_by_their_first_bytes),
          UNIT(documents_and_archives_are_known_by_their_first_bytes),
          UNIT(a_zip_archive_is_known_by_what_is_in_it),
          UNIT(programs_are_known_by_their_first_bytes),
          UNIT(java_classes_and_universal_programs_share_a_magic_number),
          UNIT(sound_and_video_are_known_by_their_first_bytes),
          UNIT(fonts_are_known_by_their_first_bytes),
          UNIT(a_magic_number_that_is_cut_short_is_not_taken))
