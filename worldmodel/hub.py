"""A trained model on the Hugging Face Hub, or in a folder laid out the same way.

Needs `huggingface_hub` (`pip install "orbitlaw[hub]"`), which alone talks to the network;
`HubModel(model).save_pretrained("folder")` and `HubModel.from_pretrained("folder")` do not.
"""

from pathlib import Path
from typing import Any, Self

from huggingface_hub import ModelCard, ModelCardData, ModelHubMixin, snapshot_download

from orbits.version import DISTRIBUTION
from worldmodel.checkpoint import write_record
from worldmodel.world_model import WorldModel

CARD = """---
{metadata}
---

# {title}

A transformer that predicts the next position of bodies in orbit from the last {context} of them.

{facts}

It predicts; which law it believes in is another question. Ask it:

```python
import orbits, symreg, worldmodel

model = worldmodel.WorldModel.pull("{repository}")
held_out = orbits.generate(law="{law}", orbits=250, seed=1)
forces = worldmodel.probe(model, held_out, states="kicked")
print(symreg.recover(forces))
```
"""


class HubModel(ModelHubMixin):
    """A trained model as `huggingface_hub` keeps it: files, and a model card.

    Args:
        model: from `worldmodel.train`.
    """

    def __init__(self, model: WorldModel) -> None:
        self.model = model

    def save_pretrained(self, save_directory: str | Path, **options: Any) -> str | None:
        """Write the model and its card, as `WorldModel.save` does.

        Raises:
            ValueError: if the folder holds anything else.
        """
        self.model.save(save_directory)
        return super().save_pretrained(save_directory, **options)

    def _save_pretrained(self, save_directory: Path) -> None:
        write_record(save_directory, self.model.record)  # the mixin has just removed it

    @classmethod
    def _from_pretrained(cls, *, model_id: str, **options: Any) -> Self:
        if Path(model_id).is_dir():
            return cls(WorldModel.load(model_id))
        asked = ("revision", "cache_dir", "force_download", "local_files_only", "token")
        chosen = {name: options[name] for name in asked if name in options}
        return cls(WorldModel.load(snapshot_download(model_id, **chosen)))

    def generate_model_card(self, *args: Any, **options: Any) -> ModelCard:
        """What the model is, what it was trained on, and how to use it."""
        train, data = self.model.record.train, self.model.record.data
        facts = {
            "trained on": f"{data.orbits} orbits of {data.samples} states, law {data.law}, "
            f"one every {data.dt:g} yr",
            "steps": str(self.model.step),
            "attention": train.attention,
            "context length": str(train.context_length),
            "target": train.target,
            "seed": str(train.seed),
            "parameters": str(self.model.parameters),
            "fingerprint": self.model.fingerprint,
        }
        metadata = ModelCardData(library_name=DISTRIBUTION, tags=["orbits", "world-model"])
        return ModelCard(
            CARD.format(
                metadata=metadata.to_yaml(),
                title=f"{train.attention}, context {train.context_length}, law {data.law}",
                context=train.context_length,
                facts="\n".join(f"- {name}: {value}" for name, value in facts.items()),
                law=data.law,
                repository=options.get("repo_id") or "OWNER/NAME",
            )
        )
