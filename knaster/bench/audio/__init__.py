"""Speech as it came over the wire: which format it is, where its sound begins, and what a decoder can be given. Pure.

How long it lasts is the decoder's answer (`knaster.adapters.audio`). But decoders read files, and a stream is no file
yet: its head promises lengths that nobody knew when it was sent, and servers that speak sentence by sentence send
several files in a row, of which a decoder sees the first alone. So the bytes are taken apart first.
"""

from knaster.bench.audio.part import NoAudioError, Part, Sound
from knaster.bench.audio.sound import sound

__all__ = ["NoAudioError", "Part", "Sound", "sound"]
