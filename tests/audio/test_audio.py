"""`paddle.audio` against what PaddlePaddle 3.3.1 gives, compiled, and on bad arguments and files."""

import wave
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.audio.cases import CASES
from tests.end_to_end.differential import compare
from vitrify.core.errors import ArgumentError, DTypeError, FileFormatError, ShapeError

GIVEN = np.load(Path(__file__).parents[1] / "data" / "paddle_audio.npz")
F, X = paddle.audio.functional, paddle.audio.features


def test_the_file_has_every_case():
    assert set(GIVEN.files) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_as_paddle(name):
    found = CASES[name](paddle)
    found = found.numpy() if hasattr(found, "numpy") else np.asarray(found)
    assert found.dtype == GIVEN[name].dtype
    np.testing.assert_allclose(found, GIVEN[name], rtol=2e-5, atol=1e-5 * max(1.0, np.abs(found).max()))


def test_features_compile_and_have_gradients():
    layer = X.MFCC(sr=8000, n_mfcc=3, n_fft=32, n_mels=5)
    sound = paddle.to_tensor(np.sin(np.arange(120).reshape(1, 120)).astype("float32"), stop_gradient=False)
    compare(lambda x: layer(x), [sound])


@pytest.mark.parametrize("htk", [False, True])
def test_the_scales_are_inverse(htk):
    mels = paddle.linspace(0.0, 40.0, 9)
    np.testing.assert_allclose(F.hz_to_mel(F.mel_to_hz(mels, htk), htk).numpy(), mels.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.get_window("nope", 8), ArgumentError, "no window is named 'nope'"),
        (lambda: F.get_window("gaussian", 8), ArgumentError, "get_window: 'gaussian' of 8: "),
        (lambda: F.get_window(3, 8), DTypeError, "a name or a tuple, got a int"),
        (lambda: F.create_dct(2, 4, "bad"), ArgumentError, "'ortho' or None, got 'bad'"),
        (lambda: F.compute_fbank_matrix(8, 8, norm="bad"), ArgumentError, "'slaney', a number or None, got 'bad'"),
        (lambda: F.power_to_db(paddle.ones([1]), amin=0.0), ArgumentError, "must be positive, got 0.0 and 1.0"),
        (lambda: F.power_to_db(paddle.ones([1]), ref_value=-1.0), ArgumentError, "got 1e-10 and -1.0"),
        (lambda: F.power_to_db(paddle.ones([1]), top_db=-1.0), ArgumentError, "must not be negative, got -1.0"),
        (lambda: X.Spectrogram(power=0.0), ArgumentError, "power must be positive, got 0.0"),
        (lambda: X.MFCC(n_mfcc=70), ArgumentError, "must not exceed n_mels, got 70 and 64"),
        (lambda: paddle.audio.backends.set_backend("sox"), ArgumentError, "no backend 'sox'"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_files_keep_their_samples(tmp_path):
    path = tmp_path / "sound.wav"
    sound = paddle.to_tensor(np.linspace(-1, 1, 20, dtype="float32").reshape(2, 10))
    paddle.audio.save(path, sound, 8000)
    assert vars(paddle.audio.info(path)) == {
        "sample_rate": 8000, "num_samples": 10, "num_channels": 2, "bits_per_sample": 16, "encoding": "PCM_S",
    }  # fmt: skip
    found, rate = paddle.audio.load(path)
    assert rate == 8000
    np.testing.assert_allclose(found.numpy(), sound.numpy(), atol=2.0**-15)
    part, _ = paddle.audio.load(path, frame_offset=2, num_frames=3, channels_first=False)
    assert part.tolist() == found.numpy().T[2:5].tolist()
    whole, _ = paddle.audio.load(str(path), normalize=False)
    assert whole.numpy()[0, :2].tolist() == [-32768.0, -29318.0]
    paddle.audio.save(str(path), paddle.to_tensor([[1, 2], [3, 4], [5, 6]], dtype="int16"), 16000, channels_first=False)
    assert paddle.audio.load(path, normalize=False)[0].tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]


def test_what_is_too_loud_is_cut_off(tmp_path):
    paddle.audio.save(tmp_path / "sound.wav", paddle.to_tensor([[1.0, 2.0, -3.0]]), 8000)
    assert paddle.audio.load(tmp_path / "sound.wav", normalize=False)[0].tolist() == [[32767.0, 32767.0, -32768.0]]


def test_bad_files(tmp_path):
    path = tmp_path / "sound.wav"
    with pytest.raises(FileNotFoundError):
        paddle.audio.load(path)
    path.write_bytes(b"no sound")
    with pytest.raises(FileFormatError, match="is no WAV file of plain samples"):
        paddle.audio.info(path)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 1, 8000, 0, "NONE", ""))
        file.writeframes(b"\x00\x01")
    with pytest.raises(FileFormatError, match="samples have 8 bits"):
        paddle.audio.load(path)
    with pytest.raises(ShapeError, match=r"must be \[channels, time\], got shape \[3\]"):
        paddle.audio.save(path, paddle.ones([3]), 8000)
    with pytest.raises(ArgumentError, match="only PCM of 16 bits"):
        paddle.audio.save(path, paddle.ones([1, 3]), 8000, bits_per_sample=8)
