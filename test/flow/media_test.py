"""media_test.py - images and documents that a provider would refuse: scaled, cut, or told.

keel-media is the real one, confined as it always is; a program that takes its place shows what
happens when a decoder crashes.
"""
import base64
import json
import os
import pathlib
import signal
import struct
import subprocess

import scripted
from agent import AgentTest, Call, Turn
from media_files import WEBP, gif, locked_pdf, noise, pdf, png
from scripted import ANTHROPIC, BY_NAME

KEEL_MEDIA = pathlib.Path(scripted.keel_test.KEEL).resolve().parent / "keel-media"
SCALE, COUNT, PAGES = 1, 2, 3
DONE, REFUSED, BROKEN, ENCRYPTED, TOO_LARGE, UNKNOWN = range(1, 7)


class Reply:
    def __init__(self, process):
        self.status, out = process.returncode, process.stdout
        if len(out) < 48:
            self.outcome = None
            return
        (self.version, self.outcome, self.format, self.width, self.height, self.new_width,
         self.new_height, self.n_pages, n_text, _, n_bytes) = struct.unpack("<10IQ", out[:48])
        self.text, self.file = out[48:48 + n_text].decode(), out[48 + n_text:]
        assert len(self.file) == n_bytes


def ask_media(work, file, edge=2000, max_bytes=1 << 22, first=0, last=0, **wrong):
    head = {"version": 1, "n": len(file), **wrong}
    request = struct.pack("<IIIIIIQQ", head["version"], work, edge, first, last, 0, max_bytes,
                          head["n"])
    return Reply(subprocess.run([KEEL_MEDIA], input=request + file, capture_output=True,
                                timeout=scripted.HANG_SECONDS, check=False))


def size_of_png(file):
    return struct.unpack(">II", file[16:24])


class Program(scripted.KeelTest):
    """keel-media itself, as keel asks it."""

    def test_an_image_is_scaled_within_the_edge(self):
        for file, shape in ((png(9000, 10), (2000, 2)), (png(1, 5000), (1, 2000)),
                            (gif(300, 200), (300, 200)), (png(30, 20), (30, 20))):
            reply = ask_media(SCALE, file)
            self.assertEqual(reply.outcome, DONE, reply.text)
            self.assertEqual((reply.new_width, reply.new_height), shape)
            self.assertEqual(size_of_png(reply.file), shape)

    def test_a_gif_and_a_webp_become_something_that_all_take(self):
        reply = ask_media(SCALE, gif(300, 200), edge=30)
        self.assertEqual(size_of_png(reply.file), (30, 20))
        reply = ask_media(SCALE, WEBP)
        self.assertEqual((reply.outcome, reply.width, reply.height), (DONE, 1, 1))

    def test_what_takes_too_many_bytes_becomes_coarser_then_smaller(self):
        reply = ask_media(SCALE, noise(400, 300), max_bytes=200_000)
        self.assertEqual(reply.outcome, DONE, reply.text)
        self.assertTrue(reply.file.startswith(b"\xff\xd8\xff"))
        self.assertLessEqual(len(reply.file), 200_000)
        again = ask_media(SCALE, reply.file, edge=100)
        self.assertEqual((again.outcome, again.new_width, again.new_height), (DONE, 100, 75))
        small = ask_media(SCALE, noise(200, 100), max_bytes=900)
        self.assertEqual(small.outcome, DONE)
        self.assertLessEqual(len(small.file), 900)
        self.assertLess(small.new_width, 200)

    def test_a_photograph_stays_upright(self):
        flat = ask_media(SCALE, noise(80, 20), max_bytes=4000).file
        self.assertTrue(flat.startswith(b"\xff\xd8"))
        exif = b"Exif\0\0MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
        turned = flat[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + flat[2:]
        before, after = ask_media(SCALE, flat, edge=40), ask_media(SCALE, turned, edge=40)
        self.assertEqual((before.new_width, before.new_height), (40, 10))
        self.assertEqual((after.new_width, after.new_height), (10, 40))

    def test_a_bomb_is_not_decoded(self):
        bomb = png(50000, 50000, bytes(6251 * 2000), depth=1, color=0)
        self.assertLess(len(bomb), 100_000)
        reply = ask_media(SCALE, bomb)
        self.assertEqual((reply.outcome, reply.file), (TOO_LARGE, b""))
        self.assertIn("50000x50000", reply.text)

    def test_a_file_that_is_cut_off_is_told(self):
        jpeg = ask_media(SCALE, noise(64, 64), max_bytes=6000).file
        for file in (png(100, 100)[:60], gif(10, 10)[:800], WEBP[:30], jpeg[:100], pdf(3)[:100]):
            reply = ask_media(COUNT if file.startswith(b"%PDF") else SCALE, file)
            self.assertEqual(reply.outcome, BROKEN, file[:8])
            self.assertTrue(reply.text)

    def test_a_request_that_makes_no_sense_is_refused(self):
        file = png(3, 3)
        for reply in (ask_media(SCALE, file, version=2), ask_media(SCALE, file, n=1 << 60),
                      ask_media(99, file), ask_media(SCALE, file, edge=0),
                      ask_media(SCALE, file, max_bytes=0),
                      ask_media(PAGES, pdf(2), first=3, last=2),
                      ask_media(PAGES, pdf(2), first=0, last=1)):
            self.assertEqual((reply.status, reply.outcome), (0, REFUSED))
        self.assertEqual(ask_media(SCALE, b"BM" + bytes(100)).outcome, UNKNOWN)

    def test_it_has_given_up_all_it_could_do_before_it_reads(self):
        with subprocess.Popen([KEEL_MEDIA], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            status = ""
            while "Seccomp:\t2" not in status:  # it waits for its input after that
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                self.assertIsNone(process.poll())
            self.assertIn("NoNewPrivs:\t1", status)
            process.communicate(b"")

    def test_pages_are_counted_and_cut_out(self):
        self.assertEqual(ask_media(COUNT, pdf(40)).n_pages, 40)
        cut = ask_media(PAGES, pdf(40), first=3, last=5)
        self.assertEqual((cut.outcome, cut.n_pages), (DONE, 40))
        self.assertEqual(ask_media(COUNT, cut.file).n_pages, 3)
        self.assertEqual(ask_media(COUNT, ask_media(PAGES, pdf(4), first=3, last=99).file).n_pages, 2)
        self.assertEqual(ask_media(COUNT, locked_pdf()).outcome, ENCRYPTED)

    def test_the_same_pages_are_the_same_bytes(self):
        cuts = [ask_media(PAGES, pdf(9), first=2, last=4).file for _ in range(2)]
        self.assertEqual(*cuts)


class Media(AgentTest):
    """What the model gets of a file that it reads."""

    def read(self, name, content, protocol=ANTHROPIC, env=None, **arguments):
        (self.project / name).write_bytes(content)
        provider = self.play(protocol, Turn(Call("Read", file_path=name, **arguments)),
                             Turn("Well."))
        result = self.run_agent(protocol, provider, "look", env=env)
        self.assert_fine(result)
        return provider

    def result_of(self, provider):
        """Text and files of the result in the last request to Anthropic."""
        [result] = [block for message in provider.requests[-1].json["messages"]
                    if isinstance(message["content"], list)
                    for block in message["content"] if block["type"] == "tool_result"]
        texts = [block["text"] for block in result["content"] if block["type"] == "text"]
        files = [block["source"] for block in result["content"] if block["type"] != "text"]
        return "".join(texts), files

    def test_a_long_image_is_scaled_and_told(self):
        text, [file] = self.result_of(self.read("long.png", png(9000, 10)))
        self.assertIn("[image long.png scaled from 9000x10 to 2000x2 pixels]", text)
        self.assertEqual(size_of_png(base64.b64decode(file["data"])), (2000, 2))

    def test_a_name_stays_one_line(self):
        (self.project / "a\nb.png").write_bytes(png(9000, 10))
        (self.project / os.fsdecode(b"caf\xe9.png")).write_bytes(png(9000, 10)[:40])
        provider = self.play(ANTHROPIC, Turn(Call("Read", file_path="a\nb.png")),
                             Turn(Call("Read", file_path='"caf\\351.png"')), Turn("Well."))
        self.assert_fine(self.run_agent(ANTHROPIC, provider, "look"))
        body = json.dumps(provider.requests[-1].json)
        self.assertIn(json.dumps('[image "a\\nb.png" scaled from 9000x10')[1:-1], body)
        self.assertIn(json.dumps('[image "caf\\351.png" left out: the PNG is cut off')[1:-1], body)

    def test_every_vendor_has_its_own_limits(self):
        for name, is_scaled in (("anthropic-messages", True), ("openai-responses", False),
                                ("gemini", False)):
            with self.subTest(name):
                provider = self.read("wide.png", png(4000, 8), protocol=BY_NAME[name])
                body = provider.requests[-1].body
                self.assertEqual(b"scaled from 4000x8" in body, is_scaled)

    def test_a_gif_reaches_those_who_take_none(self):
        for name, wants_png in (("gemini", True), ("ollama", True), ("anthropic-messages", False)):
            with self.subTest(name):
                provider = self.read("a.gif", gif(6, 4), protocol=BY_NAME[name])
                body = provider.requests[-1].body
                self.assertEqual(b"is a GIF: its first frame is here" in body, wants_png)
                self.assertEqual(base64.b64encode(b"\x89PNG\r\n\x1a\n")[:10] in body, wants_png)

    def test_an_image_that_is_cut_off_is_told_and_the_session_goes_on(self):
        provider = self.read("cut.png", png(9000, 10)[:30])
        text, files = self.result_of(provider)
        self.assertEqual(files, [])
        self.assertIn("[image cut.png left out: the PNG is cut off after 30 bytes]", text)
        self.assert_answer(self.run_agent(ANTHROPIC, provider, "-c", "never mind"), "Well.")

    def test_an_image_with_a_wrong_checksum_is_told(self):
        broken = bytearray(png(20, 20))
        broken[45] ^= 1
        text, files = self.result_of(self.read("bad.png", bytes(broken)))
        self.assertEqual(files, [])
        self.assertIn("the PNG is broken: the checksum of a chunk does not match", text)

    def test_half_a_photograph_is_told(self):
        jpeg = ask_media(SCALE, noise(64, 64), max_bytes=6000).file
        self.assertTrue(jpeg.startswith(b"\xff\xd8"))
        text, files = self.result_of(self.read("half.jpg", jpeg[:len(jpeg) // 2]))
        self.assertEqual(files, [])
        self.assertIn(f"the JPEG is cut off after {len(jpeg) // 2} bytes", text)

    def test_an_image_with_another_ending_has_its_own_type(self):
        _, [file] = self.result_of(self.read("photo.jpg", png(3, 3)))
        self.assertEqual(file["media_type"], "image/png")

    def test_a_bomb_is_told(self):
        bomb = png(50000, 50000, bytes(6251 * 2000), depth=1, color=0)
        text, files = self.result_of(self.read("bomb.png", bomb))
        self.assertEqual(files, [])
        self.assertIn("50000x50000 is more than 100 million pixels", text)

    def pretend(self, script):
        program = self.home / "keel-media"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return {"KEEL_MEDIA": str(program)}

    def test_a_decoder_that_crashes_is_told(self):
        text, files = self.result_of(self.read("long.png", png(9000, 10),
                                               env=self.pretend("kill -SEGV $$")))
        self.assertEqual(files, [])
        self.assertIn("[image long.png left out: it is 9000x10 pixels large and cannot be scaled: "
                      "the decoder crashed on it]", text)

    def test_a_decoder_that_hangs_can_be_interrupted(self):
        fifo = self.home / "pid"
        os.mkfifo(fifo)
        (self.project / "long.png").write_bytes(png(9000, 10))
        provider = self.play(ANTHROPIC, Turn(Call("Read", file_path="long.png")), Turn("Well."))
        process = self.start_agent(ANTHROPIC, provider, "look",
                                   env=self.pretend(f"echo $$ > {fifo}; exec sleep 1000"))
        decoder = int(fifo.read_text())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(scripted.HANG_SECONDS), 130)
        self.assertFalse(pathlib.Path(f"/proc/{decoder}").exists())

    def test_a_decoder_that_talks_nonsense_is_not_believed(self):
        for script in ("head -c 100 /dev/zero", "cat", "yes | head -c 300000; exit 7", "exit 0"):
            with self.subTest(script):
                provider = self.read("long.png", png(9000, 10), env=self.pretend(script))
                self.assertRegex(self.result_of(provider)[0], r"\[image long\.png (left out|was not)")

    def test_without_the_program_the_image_is_sent_as_it_is_and_that_is_told(self):
        text, [file] = self.result_of(self.read("long.png", png(9000, 10),
                                                env={"KEEL_MEDIA": "/nonexistent"}))
        self.assertEqual(size_of_png(base64.b64decode(file["data"])), (9000, 10))
        self.assertIn("was not scaled", text)
        self.assertIn("keel-media is not installed", text)

    def test_where_it_cannot_be_confined_it_does_not_run(self):
        text, [_] = self.result_of(self.read("long.png", png(9000, 10),
                                             env=self.pretend("exit 3")))
        self.assertIn("keel-media cannot be confined here", text)

    def test_a_prompt_with_a_large_image(self):
        message = {"type": "user", "message": {"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg",
                                         "data": base64.b64encode(png(9000, 10)).decode()}},
            {"type": "text", "text": "what is it?"}]}}
        provider = self.play(ANTHROPIC, Turn("A line."))
        result = self.run_agent(ANTHROPIC, provider, "--input-format", "stream-json",
                                "--output-format", "stream-json", "--verbose",
                                stdin=json.dumps(message).encode() + b"\n")
        self.assert_status(result, 0)
        content = provider.requests[0].json["messages"][0]["content"]
        [image] = [block["source"] for block in content if block["type"] == "image"]
        self.assertEqual(image["media_type"], "image/png")
        self.assertEqual(size_of_png(base64.b64decode(image["data"])), (2000, 2))
        self.assertIn("scaled from 9000x10 to 2000x2", json.dumps(content))

    def test_an_image_of_a_notebook_is_scaled_like_any_other(self):
        picture = base64.b64encode(png(9000, 10)).decode()
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{
            "cell_type": "code", "id": "a", "metadata": {}, "source": "plot()",
            "execution_count": 1, "outputs": [{"output_type": "display_data", "metadata": {},
                                               "data": {"image/png": picture}}]}]}
        text, [file] = self.result_of(self.read("a.ipynb", json.dumps(notebook).encode()))
        self.assertIn("scaled from 9000x10 to 2000x2 pixels", text)
        self.assertEqual(size_of_png(base64.b64decode(file["data"])), (2000, 2))

    def test_doctor_says_where_the_program_is(self):
        self.assertIn(str(KEEL_MEDIA), self.keel("doctor").out)
        lost = self.keel("doctor", env={"KEEL_MEDIA": "/nonexistent"}).out
        self.assertIn("cannot scale large images", lost)

    def test_only_the_pages_that_were_asked_for_are_sent(self):
        text, [file] = self.result_of(self.read("long.pdf", pdf(40), pages="3-5"))
        self.assertIn("It has 40 pages; pages 3-5 are here.", text)
        self.assertEqual(ask_media(COUNT, base64.b64decode(file["data"])).n_pages, 3)

    def test_one_page_is_told_as_one(self):
        text, _ = self.result_of(self.read("long.pdf", pdf(40), pages="3"))
        self.assertIn("It has 40 pages; page 3 is here.", text)

    def test_a_document_of_many_pages_is_told_and_read_in_parts(self):
        text, files = self.result_of(self.read("book.pdf", pdf(300)))
        self.assertEqual(files, [])
        self.assertIn("it has 300 pages", text)
        self.assertIn('Read with pages "1-20"', text)
        _, [file] = self.result_of(self.read("book.pdf", pdf(300), pages="250-260"))
        self.assertEqual(ask_media(COUNT, base64.b64decode(file["data"])).n_pages, 11)

    def test_a_document_that_nobody_can_open_is_told(self):
        text, files = self.result_of(self.read("locked.pdf", locked_pdf()))
        self.assertEqual(files, [])
        self.assertIn("[document locked.pdf left out: it is encrypted and needs a password]", text)
        text, files = self.result_of(self.read("torn.pdf", b"%PDF-1.4\nnothing"))
        self.assertEqual(files, [])
        self.assertIn("[document torn.pdf left out: libqpdf:", text)

    def test_pages_that_are_not_there_are_told(self):
        text, files = self.result_of(self.read("short.pdf", pdf(2), pages="7"))
        self.assertEqual(files, [])
        self.assertIn("cannot extract pages 7-7: it has 2 pages", text)
        text, _ = self.result_of(self.read("shorter.pdf", pdf(1), pages="2"))
        self.assertRegex(text, r"cannot extract pages 2-2: it has 1 page\b")


if __name__ == "__main__":
    scripted.main()
