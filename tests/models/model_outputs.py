"""`ModelOutput` as transformer libraries have it: an OrderedDict that is a dataclass too, without what is None."""

from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Any

import vitrify as paddle


class ModelOutput(OrderedDict):
    def __post_init__(self):
        class_fields = fields(self)
        if not len(class_fields):
            raise ValueError(f"{self.__class__.__name__} has no fields.")
        if not all(field.default is None for field in class_fields[1:]):
            raise ValueError(f"{self.__class__.__name__} should not have more than one required field.")
        first_field = getattr(self, class_fields[0].name)
        other_fields_are_none = all(getattr(self, field.name) is None for field in class_fields[1:])
        if other_fields_are_none and not isinstance(first_field, paddle.Tensor) and isinstance(first_field, dict):
            for key, value in first_field.items():
                self[key] = value
        else:
            for field in class_fields:
                v = getattr(self, field.name)
                if v is not None:
                    self[field.name] = v

    def __delitem__(self, *args, **kwargs):
        raise Exception(f"You cannot use ``__delitem__`` on a {self.__class__.__name__} instance.")

    def __getitem__(self, k):
        if isinstance(k, str):
            inner_dict = dict(self.items())
            return inner_dict[k]
        else:
            return self.to_tuple()[k]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def to_tuple(self):
        return tuple(self[k] for k in self.keys())


@dataclass
class BaseModelOutput(ModelOutput):
    last_hidden_state: Any = None
    past_key_values: Any = None
    hidden_states: Any = None
    attentions: Any = None


@dataclass
class BaseModelOutputWithPooling(ModelOutput):
    last_hidden_state: Any = None
    pooler_output: Any = None
    hidden_states: Any = None
    attentions: Any = None


@dataclass
class PreTrainingOutput(ModelOutput):
    loss: Any = None
    prediction_logits: Any = None
    seq_relationship_logits: Any = None
    hidden_states: Any = None


@dataclass
class CausalLMOutput(ModelOutput):
    loss: Any = None
    logits: Any = None
    past_key_values: Any = None
    hidden_states: Any = None


@dataclass
class Seq2SeqLMOutput(ModelOutput):
    loss: Any = None
    logits: Any = None
    past_key_values: Any = None
    encoder_last_hidden_state: Any = None
