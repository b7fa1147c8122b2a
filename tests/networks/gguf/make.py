#!/usr/bin/env python3
"""Makes the models of this folder, and the shapes of what they multiply.

pip install gguf; python3 tests/networks/gguf/make.py

NAME.gguf.zst is the head of a file that the package gguf writes: keys and the list of tensors, without their elements. There is no graph in
such a file, so NAME.shapes is written here from the definition of each architecture, in plain numbers: what papers and llama.cpp say that
it multiplies. Real widths, few layers.
"""
import os
import subprocess
import sys
import tempfile

import gguf
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from shapes import conv, matmul, write

Q4_K, Q6_K, Q8_0, F16, F32 = (getattr(gguf.GGMLQuantizationType, t) for t in ('Q4_K', 'Q6_K', 'Q8_0', 'F16', 'F32'))


class Model(gguf.GGUFWriter):
    def __init__(self, architecture):
        super().__init__(None, architecture)
        self.lines = []
        self.add_array('tokenizer.ggml.tokens', ['word', 'and another', 'third'])
        self.add_array('tokenizer.ggml.scores', [0.5, 0.25, 0.125])

    def tensor(self, name, *shape, type=Q4_K):
        """The shape as Python has it: the innermost dimension last."""
        type = F32 if len(shape) == 1 else type
        if len(shape) > 1 and type not in (F16, F32):
            block, size = gguf.GGML_QUANT_SIZES[type]
            assert shape[-1] % block == 0, (name, shape)
        self.add_tensor_info(name, shape, numpy.dtype(numpy.float32), 4, raw_dtype=type)

    def linear(self, name, rows, k, n, bias=False, type=Q4_K):
        self.tensor(name + '.weight', n, k, type=type)
        if bias:
            self.tensor(name + '.bias', n)
        self.lines.append(matmul(1, rows, k, n))

    def attention(self, heads, rows, columns, key, value):
        self.lines += [matmul(heads, rows, key, columns), matmul(heads, rows, columns, value)]

    def save(self, name, options='', suffix=''):
        with tempfile.TemporaryDirectory() as folder:
            path = f'{folder}/{name}.gguf'
            self.write_header_to_file(path)
            self.write_kv_data_to_file()
            self.write_ti_data_to_file()
            self.close()
            subprocess.run(['zstd', '-19', '-q', '-f', path, '-o', f'{HERE}/{name}.gguf.zst'], check=True)
        write(f'{HERE}/{name}.shapes', self.lines, options)


def llama(name, seq, past, options, tied=False):
    m = Model('llama')
    m.add_block_count(2)
    m.add_head_count(32)
    m.add_head_count_kv(8)
    m.add_embedding_length(4096)
    m.tensor('token_embd.weight', 128256, 4096)
    m.tensor('rope_freqs.weight', 64)
    for i in range(2):
        m.tensor(f'blk.{i}.attn_norm.weight', 4096)
        m.linear(f'blk.{i}.attn_q', seq, 4096, 4096)
        m.linear(f'blk.{i}.attn_k', seq, 4096, 1024)
        m.linear(f'blk.{i}.attn_v', seq, 4096, 1024, type=Q6_K)
        m.linear(f'blk.{i}.attn_output', seq, 4096, 4096)
        m.attention(32, seq, past + seq, 128, 128)
        m.tensor(f'blk.{i}.ffn_norm.weight', 4096)
        m.linear(f'blk.{i}.ffn_gate', seq, 4096, 14336)
        m.linear(f'blk.{i}.ffn_up', seq, 4096, 14336)
        m.linear(f'blk.{i}.ffn_down', seq, 14336, 4096, type=Q6_K)
    m.tensor('output_norm.weight', 4096)
    if tied:
        m.lines.append(matmul(1, 1, 4096, 128256))
    else:
        m.linear('output', 1, 4096, 128256, type=Q6_K)
    m.save(name, options)


def gpt2():
    """One matrix for queries, keys and values; biases; the table of words is the head."""
    m = Model('gpt2')
    m.add_block_count(2)
    m.add_head_count(12)
    m.tensor('token_embd.weight', 50257, 768, type=F16)
    m.tensor('position_embd.weight', 1024, 768, type=F32)
    for i in range(2):
        m.tensor(f'blk.{i}.attn_norm.weight', 768)
        m.linear(f'blk.{i}.attn_qkv', 64, 768, 2304, True, F16)
        m.linear(f'blk.{i}.attn_output', 64, 768, 768, True, F16)
        m.attention(12, 64, 64, 64, 64)
        m.linear(f'blk.{i}.ffn_up', 64, 768, 3072, True, F16)
        m.linear(f'blk.{i}.ffn_down', 64, 3072, 768, True, F16)
    m.tensor('output_norm.weight', 768)
    m.tensor('output_norm.bias', 768)
    m.lines.append(matmul(1, 1, 768, 50257))
    m.save('gpt2', '--dim seq=64')


def experts(name, seq, options):
    """60 experts, of which each word uses 4, and one that all words use: as Qwen1.5-MoE."""
    m = Model('qwen2moe')
    m.add_block_count(1)
    m.add_head_count(16)
    m.add_head_count_kv(16)
    m.add_expert_count(60)
    m.add_expert_used_count(4)
    active = min(60, 4 * seq)
    each = -(-4 * seq // active)
    for n in 'qkv':
        m.linear(f'blk.0.attn_{n}', seq, 2048, 2048, True)
    m.linear('blk.0.attn_output', seq, 2048, 2048)
    m.attention(16, seq, seq, 128, 128)
    m.linear('blk.0.ffn_gate_inp', seq, 2048, 60, type=F32)
    m.tensor('blk.0.ffn_gate_inp_shexp.weight', 2048)
    for n, k, width in (('gate', 2048, 1408), ('up', 2048, 1408), ('down', 1408, 2048)):
        m.tensor(f'blk.0.ffn_{n}_exps.weight', 60, width, k, type=Q8_0)
        m.lines += active * [matmul(1, each, k, width)]
    for n, k, width in (('gate', 2048, 5632), ('up', 2048, 5632), ('down', 5632, 2048)):
        m.linear(f'blk.0.ffn_{n}_shexp', seq, k, width)
    m.save(name, options)


def latent():
    """Attention over latents: DeepSeek-V2. Queries and keys have 128 + 64 elements, values 128."""
    m = Model('deepseek2')
    m.add_block_count(1)
    m.add_head_count(128)
    m.add_head_count_kv(128)
    m.add_key_length(192)
    m.add_value_length(128)
    m.linear('blk.0.attn_q_a', 32, 5120, 1536)
    m.tensor('blk.0.attn_q_a_norm.weight', 1536)
    m.linear('blk.0.attn_q_b', 32, 1536, 128 * 192)
    m.linear('blk.0.attn_kv_a_mqa', 32, 5120, 512 + 64)
    m.linear('blk.0.attn_kv_b', 32, 512, 128 * (128 + 128))
    m.attention(128, 32, 32, 192, 128)
    m.linear('blk.0.attn_output', 32, 128 * 128, 5120)
    m.linear('blk.0.ffn_gate', 32, 5120, 12288)
    m.linear('blk.0.ffn_up', 32, 5120, 12288)
    m.linear('blk.0.ffn_down', 32, 12288, 5120)
    m.save('latent', '--dim seq=32')


def bert():
    m = Model('bert')
    m.add_block_count(2)
    m.add_head_count(12)
    m.add_causal_attention(False)
    m.add_pooling_type(gguf.PoolingType.MEAN)
    m.tensor('token_embd.weight', 30522, 384, type=F16)
    m.tensor('position_embd.weight', 512, 384, type=F16)
    m.tensor('token_types.weight', 2, 384, type=F32)
    m.tensor('token_embd_norm.weight', 384)
    for i in range(2):
        for n in 'qkv':
            m.linear(f'blk.{i}.attn_{n}', 4 * 100, 384, 384, True, F16)
        m.linear(f'blk.{i}.attn_output', 4 * 100, 384, 384, True, F16)
        m.tensor(f'blk.{i}.attn_output_norm.weight', 384)
        m.attention(4 * 12, 100, 100, 32, 32)
        m.linear(f'blk.{i}.ffn_up', 4 * 100, 384, 1536, True, F16)
        m.linear(f'blk.{i}.ffn_down', 4 * 100, 1536, 384, True, F16)
    m.save('bert', '--batch 4 --dim seq=100')


def t5():
    """An encoder, and a decoder that also attends to it."""
    m = Model('t5')
    m.add_block_count(1)
    m.add_head_count(8)
    m.add_key_length(64)
    m.add_value_length(64)
    m.tensor('token_embd.weight', 32128, 512, type=F16)
    for side in 'enc', 'dec':
        for kind in ('attn', 'cross_attn')[:1 + (side == 'dec')]:
            m.tensor(f'{side}.blk.0.{kind}_norm.weight', 512)
            for n in 'qkv':
                m.linear(f'{side}.blk.0.{kind}_{n}', 20, 512, 512, type=F16)
            m.linear(f'{side}.blk.0.{kind}_o', 20, 512, 512, type=F16)
            m.tensor(f'{side}.blk.0.{kind}_rel_b.weight', 32, 8, type=F32)
            m.attention(8, 20, 20, 64, 64)
        m.linear(f'{side}.blk.0.ffn_up', 20, 512, 2048, type=F16)
        m.linear(f'{side}.blk.0.ffn_down', 20, 2048, 512, type=F16)
        m.tensor(f'{side}.output_norm.weight', 512)
    m.linear('output', 1, 512, 32128, type=F16)
    m.save('t5', '--dim seq=20')


def clip():
    """The eye of LLaVA: 24 x 24 parts of an image and a class; what makes words of the parts."""
    m = Model('clip')
    m.add_vision_block_count(2)
    m.add_vision_image_size(336)
    m.add_vision_patch_size(14)
    m.add_vision_head_count(16)
    m.add_vision_embedding_length(1024)
    m.tensor('v.class_embd', 1024)
    m.tensor('v.patch_embd.weight', 1024, 3, 14, 14, type=F16)
    m.lines.append(conv(1, 1, 3, (336, 336), 1024, (24, 24), (14, 14)))
    m.tensor('v.position_embd.weight', 577, 1024, type=F16)
    for i in range(2):
        for n in 'qkv':
            m.linear(f'v.blk.{i}.attn_{n}', 577, 1024, 1024, True, F16)
        m.linear(f'v.blk.{i}.attn_out', 577, 1024, 1024, True, F16)
        m.attention(16, 577, 577, 64, 64)
        m.linear(f'v.blk.{i}.ffn_up', 577, 1024, 4096, True, F16)
        m.linear(f'v.blk.{i}.ffn_down', 577, 4096, 1024, True, F16)
    m.linear('mm.0', 576, 1024, 4096, True, F16)
    m.linear('mm.2', 576, 4096, 4096, True, F16)
    m.save('clip')


def idefics():
    """An eye whose parts are joined 4 x 4 before they become words."""
    m = Model('clip')
    m.add_vision_block_count(1)
    m.add_vision_image_size(512)
    m.add_vision_patch_size(16)
    m.add_vision_head_count(12)
    m.add_vision_embedding_length(768)
    m.tensor('v.patch_embd.weight', 768, 3, 16, 16, type=F16)
    m.lines.append(conv(1, 1, 3, (512, 512), 768, (32, 32), (16, 16)))
    for n in 'qkv':
        m.linear(f'v.blk.0.attn_{n}', 1024, 768, 768, True, F16)
    m.linear('v.blk.0.attn_out', 1024, 768, 768, True, F16)
    m.attention(12, 1024, 1024, 64, 64)
    m.linear('v.blk.0.ffn_up', 1024, 768, 3072, True, F16)
    m.linear('v.blk.0.ffn_down', 1024, 3072, 768, True, F16)
    m.linear('mm.model.fc', 64, 12288, 960, type=F16)
    m.save('idefics')


def ear():
    """The ear of Ultravox: Whisper's encoder over 30 seconds, whose moments are joined by 8."""
    m = Model('clip')
    m.add_audio_block_count(1)
    m.add_audio_head_count(20)
    m.add_audio_embedding_length(1280)
    m.tensor('a.conv1d.0.weight', 1280, 128, 3, type=F16)
    m.tensor('a.conv1d.0.bias', 1280)
    m.tensor('a.conv1d.1.weight', 1280, 1280, 3, type=F16)
    m.lines += [conv(1, 1, 128, [3000], 1280, [3000], [3]), conv(1, 1, 1280, [3000], 1280, [1500], [3])]
    m.tensor('a.position_embd.weight', 1500, 1280, type=F16)
    for n in 'qkv':
        m.linear(f'a.blk.0.attn_{n}', 1500, 1280, 1280, n != 'k', F16)
    m.linear('a.blk.0.attn_out', 1500, 1280, 1280, True, F16)
    m.attention(20, 1500, 1500, 64, 64)
    m.linear('a.blk.0.ffn_up', 1500, 1280, 5120, True, F16)
    m.linear('a.blk.0.ffn_down', 1500, 5120, 1280, True, F16)
    m.linear('mm.a.mlp.1', 375, 5120, 2048, type=F16)
    m.linear('mm.a.mlp.2', 375, 2048, 4096, type=F16)
    m.save('ear')


def mamba():
    """No attention: a state for each channel, and a convolution over the last 4 words."""
    m = Model('mamba')
    m.add_block_count(1)
    m.tensor('token_embd.weight', 50280, 768, type=F16)
    m.linear('blk.0.ssm_in', 16, 768, 3072, type=F16)
    m.tensor('blk.0.ssm_conv1d.weight', 1536, 4, type=F32)
    m.lines.append(conv(1, 1536, 1536, [19], 1536, [16], [4]))
    m.linear('blk.0.ssm_x', 16, 1536, 80, type=F16)
    m.linear('blk.0.ssm_dt', 16, 48, 1536, True, F32)
    m.tensor('blk.0.ssm_a', 1536, 16, type=F32)
    m.tensor('blk.0.ssm_d', 1536)
    m.linear('blk.0.ssm_out', 16, 1536, 768, type=F16)
    m.tensor('output_norm.weight', 768)
    m.lines.append(matmul(1, 1, 768, 50280))
    m.save('mamba', '--dim seq=16')


llama('llama', 128, 0, '--dim seq=128')
llama('llama-word', 1, 511, '--dim past=511', tied=True)
gpt2()
experts('experts', 128, '--dim seq=128')
experts('experts-word', 1, '')
latent()
bert()
t5()
clip()
idefics()
ear()
mamba()
