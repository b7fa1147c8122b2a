"""Networks of the package transformers, made from configurations, with few layers of their real widths and random weights."""
import torch
import transformers as t
from torch import nn


class Plain(nn.Module):
    """A network that takes tensors by place, and gives tensors alone."""

    def __init__(self, network, *names):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, *inputs):
        results = self.network(**dict(zip(self.names, inputs)), return_dict=False)
        return tuple(r for r in results if isinstance(r, torch.Tensor))


def bert():
    return Plain(t.BertModel(t.BertConfig(vocab_size=1000, num_hidden_layers=2)), 'input_ids', 'attention_mask')


def gpt2():
    return Plain(t.GPT2LMHeadModel(t.GPT2Config(vocab_size=1000, n_layer=2, use_cache=False)), 'input_ids')


def llama():
    config = t.LlamaConfig(vocab_size=1000, hidden_size=512, intermediate_size=1376, num_hidden_layers=2, num_attention_heads=8,
                           num_key_value_heads=2, use_cache=False)
    return Plain(t.LlamaForCausalLM(config), 'input_ids')


def t5():
    config = t.T5Config(vocab_size=1000, num_layers=2, use_cache=False)
    return Plain(t.T5Model(config), 'input_ids', 'decoder_input_ids')


def whisper():
    config = t.WhisperConfig(vocab_size=1000, d_model=384, encoder_layers=2, encoder_attention_heads=6, encoder_ffn_dim=1536,
                             decoder_layers=2, decoder_attention_heads=6, decoder_ffn_dim=1536, use_cache=False, pad_token_id=0,
                             bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    return Plain(t.WhisperModel(config), 'input_features', 'decoder_input_ids')


def wav2vec2():
    return Plain(t.Wav2Vec2Model(t.Wav2Vec2Config(num_hidden_layers=2)), 'input_values')


def conformer():
    config = t.Wav2Vec2ConformerConfig(num_hidden_layers=2, hidden_size=256, num_attention_heads=4, intermediate_size=1024,
                                       position_embeddings_type='relative')
    return Plain(t.Wav2Vec2ConformerModel(config), 'input_values')


def segformer():
    return Plain(t.SegformerForSemanticSegmentation(t.SegformerConfig(num_labels=19)), 'pixel_values')


def yolos():
    config = t.YolosConfig(hidden_size=192, num_hidden_layers=2, num_attention_heads=3, intermediate_size=768, image_size=[224, 224],
                           num_detection_tokens=20, use_mid_position_embeddings=False)
    return Plain(t.YolosForObjectDetection(config), 'pixel_values')


words = lambda n=32: torch.ones(1, n, dtype=torch.long)
image = lambda: (torch.zeros(1, 3, 224, 224),)
sound = lambda: (torch.zeros(1, 16000),)

NETWORKS = {
    'bert': (bert, lambda: (words(), words())),
    'gpt2': (gpt2, lambda: (words(),)),
    'llama': (llama, lambda: (words(),)),
    't5': (t5, lambda: (words(), words(8))),
    'whisper': (whisper, lambda: (torch.zeros(1, 80, 3000), words(8))),
    'wav2vec2': (wav2vec2, sound),
    'conformer': (conformer, sound),
    'segformer': (segformer, image),
    'yolos': (yolos, image),
}
