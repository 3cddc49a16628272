from .base import Attention as Attention
from .base import Visible as Visible
from .make import make_attention as make_attention
from .maps import attention_maps as attention_maps
from .maps import attention_spread as attention_spread
from .specs import attention_kinds as attention_kinds
from .specs import parse_attention as parse_attention
