"""Tests that messages survive the way through a socket, and that bad ones are refused."""
import os
import socket
import struct
import unittest

import base  # noqa: F401

from rekindle import messages, wire

SAMPLES = tuple(range(5000))
TRAINER = [
    messages.Configure({"protocol": 1, "task": "train:task"}), messages.Configure({"long": "é" * 100_000}),
    messages.Initialize(1), messages.Expect(-3, ()), messages.Ping(2**64 - 1), messages.Stop(),
    messages.Expect(7, (messages.Expected(0, 2, (5, 6)), messages.Expected(1, 2, (), 9, 4))),
    messages.Compute(2**63, -1, 3, 1, 0.5, -9, -1, -1, SAMPLES), messages.Evaluate(4, 5, (2**62, -1)),
    messages.Hash(8, (5, 2**62))]
CHILD = [
    messages.Ready({"layout": [{"name": f"layer.{number}"} for number in range(5000)]}), messages.Initialized(0),
    messages.Gradients(1, (0, 4_000_000_000)), messages.Done(1, -2.5, 8, 2**64 - 1, 0.25, 0.125, 7),
    messages.Evaluated(3, 1e300, 5), messages.Pong(6, 1.5, 4), messages.Failed({"message": "x"}),
    messages.Hashed(8, 2**64 - 1, -1), messages.Note({"text": "imports train"})]


def opened():
    return len(os.listdir("/proc/self/fd"))


class FailedTest(unittest.TestCase):
    def test_texts_are_cut_where_they_are_too_long(self):
        """The trainer takes only the description in a file, so that a failure has to fit into a message."""
        fields = {"message": "x" * 4000, "traceback": "\u00e9" * 20_000 + "the last line", "parameter": "p" * 9000}
        body = messages.Failed(fields).pack()
        self.assertLessEqual(len(body), messages.MOST_INLINE_JSON)
        told = messages.Failed.unpack(memoryview(body)).fields
        self.assertEqual(told["message"], fields["message"])
        self.assertTrue(told["traceback"].startswith("...") and told["traceback"].endswith("the last line"))
        self.assertLessEqual(len(messages.Failed({name: "\u00e9" * 10**5 for name in fields}).pack()),
                             messages.MOST_INLINE_JSON)
        self.assertEqual(messages.Failed({"message": "short", "parameter": None}).pack(),
                         b'{"message":"short","parameter":null}')

    def test_other_messages_are_not_sent_in_a_file(self):
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel = wire.Channel(one.detach(), messages.TRAINER_MESSAGES)
        with self.assertRaisesRegex(wire.Garbage, "more than may be sent"):
            channel.send(messages.Note({"text": "x" * 40_000}))
        channel.close()
        other.close()


class WireTest(unittest.TestCase):
    def setUp(self):
        self.one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(self.one.close)
        self.channel = wire.Channel(other.detach(), messages.TRAINER_MESSAGES)
        self.addCleanup(self.channel.close)

    def packet(self, number=8, body=struct.pack("<Q", 1), magic=wire.MAGIC, flags=0, size=None, descriptors=()):
        packet = wire.HEADER.pack(magic, number, flags, len(body) if size is None else size) + body
        socket.send_fds(self.one, [packet], list(descriptors))

    def assert_garbage(self, words):
        with self.assertRaisesRegex(wire.Garbage, words):
            self.channel.receive()

    def test_every_message_comes_through(self):
        for sent, known in ((TRAINER, messages.TRAINER_MESSAGES), (CHILD, messages.CHILD_MESSAGES)):
            mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            sender, receiver = wire.Channel(mine.detach(), known), wire.Channel(its.detach(), known)
            for message in sent:
                sender.send(message)
                received = receiver.receive()
                self.assertEqual((received.message, received.descriptors), (message, []))
            sender.close()
            self.assertIsNone(receiver.receive())
            with self.assertRaises(wire.Gone):
                receiver.send(messages.Stop())
            receiver.close()

    def test_descriptors_come_with_their_messages(self):
        with open("/proc/self/stat", "rb") as file:
            for number, body in ((2, struct.pack("<QQ", 64, 256)), (3, struct.pack("<IQ", 2, 4096))):
                self.packet(number, body, descriptors=[file.fileno()])
                received = self.channel.receive()
                self.assertEqual(len(received.descriptors), 1)
                self.assertFalse(os.get_inheritable(received.descriptors[0]))
                os.close(received.descriptors[0])
        self.assertEqual(received.message, messages.Slots(2, 4096))

    def test_bad_headers_are_refused(self):
        self.one.send(b"short")
        self.assert_garbage("no whole header")
        self.packet(magic=1)
        self.assert_garbage("begins with 0x00000001")
        self.packet(number=101)
        self.assert_garbage("no message has the number 101")
        self.packet(size=9)
        self.assert_garbage("says that it has 9 bytes, but it has 8")
        self.packet(flags=2)
        self.assert_garbage("flags 0x2")
        self.packet(flags=1)
        self.assert_garbage("flags 0x1")
        self.one.send(b"x" * (wire.MOST_BYTES + 1))
        self.assert_garbage("more than 65536 bytes")

    def test_bad_bodies_are_refused(self):
        compute = messages.Compute(1, 2, 3, 0, 1.0, 0, -1, -1, (1, 2)).pack()
        for number, body in ((8, b""), (9, b"x"), (1, b"[1]"), (1, b"{"), (1, b'{"x": NaN}'), (1, b"\xff"),
                             (1, b"[" * 30_000), (6, compute[:-1]), (6, compute + b"x"), (6, compute[:20]),
                             (7, struct.pack("<QiI", 1, 2, 2**32 - 1)), (5, struct.pack("<qI", 1, 2**32 - 1))):
            self.packet(number, body)
            self.assert_garbage("cannot be read")

    def test_descriptors_that_nobody_wants_are_refused_and_closed(self):
        before = opened()
        with open("/proc/self/stat", "rb") as file:
            self.packet(descriptors=[file.fileno()])
            self.assert_garbage("came with 1 descriptors")
            self.packet(2, struct.pack("<QQ", 0, 64))
            self.assert_garbage("came with 0 descriptors")
            self.packet(descriptors=[file.fileno()] * 8)
            self.assert_garbage("4 descriptors")
        self.assertEqual(opened(), before)

    def test_long_messages_must_be_sealed(self):
        before = opened()
        descriptor = os.memfd_create("test", os.MFD_ALLOW_SEALING)
        os.write(descriptor, b"{}")
        self.packet(1, struct.pack("<Q", 2), flags=1, descriptors=[descriptor])
        self.assert_garbage("not sealed")
        self.packet(1, struct.pack("<Q", wire.MOST_JSON + 1), flags=1, descriptors=[descriptor])
        self.assert_garbage("more than")
        os.close(descriptor)
        with open("/proc/self/stat", "rb") as file:
            self.packet(1, struct.pack("<Q", 2), flags=1, descriptors=[file.fileno()])
            self.assert_garbage("no memfd")
        descriptor = wire._sealed(b"{}")
        self.packet(1, struct.pack("<Q", 3), flags=1, descriptors=[descriptor])
        self.assert_garbage("should hold 3 bytes, but holds 2")
        os.close(descriptor)
        self.assertEqual(opened(), before)

    def test_only_a_socket_of_packets_is_taken(self):
        one, other = socket.socketpair()
        with self.assertRaisesRegex(wire.Garbage, "SOCK_SEQPACKET"):
            wire.Channel(one.detach(), {})
        other.close()


if __name__ == "__main__":
    unittest.main()
