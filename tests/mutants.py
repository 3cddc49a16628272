"""Mutants: one mistake at a time put into the code, and the tests that must notice it.

    python tests/mutants.py [NUMBER ...] [--only WORD] [--list]

Each mutant is a text of a source file, which must be there exactly once, what is written in its
place, what is broken by that, and the tests that belong to it. The packages and tests are copied
into a temporary folder; there every test selection runs once without a mutant and must be green,
then each mutant alone is put in, its tests run, and the file is restored. A mutant that no test
notices survives: the exit code is 1, and the test that is missing is to be written.
"""

import argparse
import compileall
import importlib
import os
import py_compile
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("orbits", "worldmodel", "symreg")
COPIED = (*PACKAGES, "tests", "pyproject.toml")
HEAVY = (
    "heyoka", "hypothesis.strategies", "joblib", "jsonargparse", "lightning_fabric",
    "matplotlib.pyplot", "nbclient", "nbformat", "pandas", "pyarrow.parquet", "pyoperon",
    "safetensors.torch", "scipy.integrate", "scipy.optimize", "scipy.spatial", "scipy.stats",
    "sklearn.linear_model", "sklearn.model_selection", "sympy", "torch", "xarray", "yaml", "zarr",
)  # fmt: skip
"""What nearly all tests import, once for all of them: it takes longer than most tests."""
LIMIT = 300.0
"""Seconds for the tests of one mutant; one that makes them run for ever is noticed too."""
FAILED, PASSED = 1, 0
"""Exit codes of pytest. With any other one the tests have not run, which is no verdict."""


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Attributes:
        file: that is changed.
        old: text of the file, which is there exactly once.
        new: what is written in its place.
        what: is broken, in words.
        tests: that belong to it, as pytest names them below `tests`.
    """

    file: str
    old: str
    new: str
    what: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: the test that noticed it, if any did, and seconds of wall clock."""

    mutant: Mutant
    killer: str | None
    seconds: float


def mutant(file: str, old: str, new: str, what: str, *tests: str) -> Mutant:
    """A mutant, its tests one by one."""
    return Mutant(file, old, new, what, tests)


UNITS, PLANETS = "orbits/units.py", "orbits/planets.py"
BOUND, PLANETARY = "orbits/populations/bound.py", "orbits/populations/planetary.py"
POWERS, ELEMENTS = "orbits/powers.py", "orbits/elements.py"
IN_ORBITS = [
    mutant(
        UNITS, "G = 4 * np.pi**2", "G = 39.42",
        "G off by 0.15 %", "orbits/test_planets.py::test_the_sun_has_the_gaussian_constant",
    ),
    mutant(
        UNITS, "JULIAN_YEAR_DAYS = 365.25", "JULIAN_YEAR_DAYS = 365.2422",
        "the tropical year for the Julian one", "orbits/test_planets.py::test_dates",
    ),
    mutant(
        "orbits/forces/newton.py", "return -gm / (r * r)", "return gm / (r * r)",
        "gravity repels", "orbits/test_forces.py::test_every_law_attracts_towards_the_origin",
    ),
    mutant(
        "orbits/forces/yukawa.py", "(1 / (r * r) + 1 / (self.length * r))",
        "(1 / (r * r) - 1 / (self.length * r))", "a sign in Yukawa's force",
        "orbits/test_forces.py::test_force_is_minus_the_gradient_of_the_potential",
    ),
    mutant(
        "orbits/forces/newton_gr.py", "(1 + self.b / square)", "(1 + 2 * self.b / square)",
        "twice the advance of perihelia",
        "orbits/test_forces.py::test_force_is_minus_the_gradient_of_the_potential",
    ),
    mutant(
        "orbits/forces/base.py", "(self.radial_acceleration(r, gm) / r)[..., None]",
        "self.radial_acceleration(r, gm)[..., None]", "the direction of a force is not of length 1",
        "orbits/test_systems.py::test_two_bodies_follow_their_relative_orbit[scipy-newton]",
    ),
    mutant(
        "orbits/integration.py", "acceleration(x + 0.5 * h * x2)", "acceleration(x + 0.5 * h * x1)",
        "Runge-Kutta's third stage is its second",
        "orbits/test_integration.py::test_a_runge_kutta_step_is_of_fourth_order",
    ),
    mutant(
        ELEMENTS, "for _ in range(12):", "for _ in range(1):",
        "Kepler's equation is solved by one step",
        "orbits/test_elements.py::test_keplers_equation_is_solved_to_rounding",
    ),
    mutant(
        ELEMENTS, "g = times - (difference", "g = times + (difference",
        "a sign in Gauss's g function",
        "orbits/test_elements.py::test_propagation_returns_after_a_period_and_obeys_newton",
    ),
    mutant(
        "orbits/invariants.py", "/ scale - 1 / np.sqrt(", "/ scale + 1 / np.sqrt(",
        "a sign in the eccentricity vector",
        "orbits/test_integration.py::"
        "test_newton_conserves_energy_angular_momentum_and_eccentricity_vector[kepler]",
    ),
    mutant(
        "orbits/invariants.py", "departure = np.abs(invariant - invariant[:, :1])",
        "departure = invariant - invariant[:, :1]", "an energy that falls does not drift",
        "orbits/test_integration.py::test_a_drift_counts_in_both_directions",
    ),
    mutant(
        "orbits/engines/scipy_ivp.py", "tolerance: float = 1e-12", "tolerance: float = 1e-8",
        "the reference integrator is 10 000 times coarser",
        "orbits/test_integration.py::test_detest_class_d",
    ),
    mutant(
        "orbits/engines/scipy_ivp.py", "second, -unit * gm[first, None]",
        "second, unit * gm[first, None]", "reaction has the sign of action",
        "orbits/test_systems.py::test_two_bodies_follow_their_relative_orbit[scipy-newton]",
    ),
    mutant(
        PLANETS, "[0.0, c, s], [0.0, -s, c]", "[0.0, c, -s], [0.0, s, c]",
        "the ecliptic is turned the wrong way", "orbits/test_planets.py::test_frames",
    ),
    mutant(
        PLANETS, "velocity.T / de421.AU * JULIAN_YEAR_DAYS", "velocity.T / de421.AU",
        "velocities of planets in au per day",
        "orbits/test_planets.py::test_velocity_is_the_derivative_of_position",
    ),
    mutant(
        PLANETS, "position - sun[0], velocity - sun[1]", "position + sun[0], velocity + sun[1]",
        "planets are seen from the Sun's mirror image",
        "orbits/test_planets.py::test_keplers_third_law[mercury]",
        "orbits/test_planets.py::test_around_the_barycentre",
    ),
    mutant(
        PLANETS, 'np.full(count, gm_of("sun") + gm_of(body))', 'np.full(count, gm_of("sun"))',
        "a planet's own mass is left out of GM",
        "orbits/test_planets.py::test_gm_is_that_of_the_sun_and_the_planet",
    ),
    mutant(
        "orbits/populations/ranges.py",
        "a = low * (high / low) ** place\n            "
        "top = np.clip(1 - self.min_perihelion / a, least, most)",
        "a = low * (high / low) ** place\n            top = np.full_like(a, most)",
        "no smallest perihelion",
        "orbits/test_populations.py::test_no_orbit_comes_closer_than_the_smallest_perihelion",
    ),
    mutant(
        BOUND, "(rng.random(count) < 0.5)", "(rng.random(count) < 2)",
        "all orbits revolve in one sense",
        "orbits/test_populations.py::test_newtonian_elements_are_uniform_in_phase_and_orientation",
    ),
    mutant(
        BOUND, "np.sign(fraction) * speed", "speed", "all bodies move outwards at first",
        "orbits/test_populations.py::test_newtonian_elements_are_uniform_in_phase_and_orientation",
    ),
    mutant(
        BOUND, "np.where((e < EVEN)[:, None], 1.0, duration)", "np.ones_like(duration)",
        "orbits begin evenly in angle, not in time",
        "orbits/test_populations.py::test_newtonian_elements_are_uniform_in_phase_and_orientation",
    ),
    mutant(
        PLANETARY, "bodies - np.sum(weights * bodies, axis=1, keepdims=True)", "bodies",
        "the centre of mass is not at rest",
        "orbits/test_systems.py::test_planets_keep_out_of_one_anothers_reach",
    ),
    mutant(
        PLANETARY, "(outer_a - inner_a > spacing * hill) & (gap", "(outer_a > inner_a) & (gap",
        "no spacing between planets",
        "orbits/test_systems.py::test_planets_keep_out_of_one_anothers_reach",
    ),
    mutant(
        "orbits/systems/shard.py", "spawn_key=(shard,)", "spawn_key=(0,)",
        "every shard repeats the first",
        "orbits/test_generate.py::test_shards_differ_from_one_another",
    ),
    mutant(
        "orbits/systems/quality.py", "return np.max(ratio, axis", "return np.min(ratio, axis",
        "the smallest error of an orbit is reported",
        "orbits/test_systems.py::test_the_error_of_an_orbit_is_its_largest",
    ),
    mutant(
        "orbits/systems/recipe.py", 'if engine != "heyoka" and ENGINES', "if ENGINES",
        "heyoka is checked by itself",
        "orbits/test_systems.py::test_no_engine_is_checked_by_itself",
    ),
    mutant(
        "orbits/dataset.py", "np.stack([mass[:, 1], -mass[:, 0]], axis=1)",
        "np.stack([mass[:, 0], -mass[:, 1]], axis=1)", "the heavier body moves more",
        "orbits/test_systems.py::test_barycentric_dataset_keeps_momentum_and_the_third_law",
    ),
    mutant(
        "orbits/dataset.py",
        "return position[:, :, 0] - position[:, :, 1], velocity[:, :, 0] - velocity[:, :, 1]",
        "return position[:, :, 1] - position[:, :, 0], velocity[:, :, 1] - velocity[:, :, 0]",
        "the sign of a relative position",
        "orbits/test_api.py::test_two_bodies_are_seen_from_the_second",
    ),
    mutant(
        "orbits/records/checksums.py", "if found != self.sha256[file]:",
        "if False:", "checksums of shards are not compared",
        "orbits/test_damage.py::test_a_flipped_bit_is_refused_where_it_is_read_and_nowhere_else",
    ),
    mutant(
        "orbits/validation.py", '"float32": 1e-4', '"float32": 1e-2',
        "validation lets energy drift by 1 %",
        "orbits/test_validate.py::test_wrong_numbers_are_named",
    ),
    mutant(
        "orbits/validation.py", "_within(good, finite, error > 1)",
        "_within(good, finite, error > 1000)",
        "validation forgives a thousandfold mismatch of velocities",
        "orbits/test_validate.py::test_wrong_numbers_are_named",
    ),
    mutant(
        "orbits/records/force_samples.py", "np.sum((true - true.mean(axis=0)) ** 2)",
        "np.sum(true**2)", "R² against zero, not against the mean",
        "orbits/test_force_samples.py::test_r_squared_is_zero_for_the_mean_and_one_for_the_truth",
    ),
    mutant(
        POWERS, "np.mean(force.sum(axis=1) ** 2)", "np.mean((force[:, 0] - force[:, 1]) ** 2)",
        "m1 a1 − m2 a2 for the third law", "orbits/test_powers.py::test_action_and_reaction",
    ),
    mutant(
        POWERS, "root * y, group, np.random", "root * y, np.arange(len(y)), np.random",
        "rows are resampled, not orbits",
        "orbits/test_powers.py::test_resampling_takes_groups_and_not_rows",
    ),
    mutant(
        POWERS, "1 / (np.mean(residual**2) + ERROR_FLOOR**2)", "1.0",
        "rows that scatter count as much as others",
        "orbits/test_powers.py::test_rows_that_scatter_count_for_less",
    ),
    mutant(
        POWERS, "(0.025, 0.975)", "(0.25, 0.75)", "intervals of a power law hold 50 %",
        "worldmodel/probes/test_implied.py::"
        "test_the_interval_covers_the_truth_about_as_often_as_it_says",
    ),
    mutant(
        POWERS, "across = whole - radial_part(acceleration, position) ** 2",
        "across = radial_part(acceleration, position) ** 2",
        "the central part for the non-central one",
        "orbits/test_powers.py::test_parts_of_a_field_of_known_direction",
    ),
]  # fmt: skip

ATTENTION = "worldmodel/attention/base.py"
TRAINING, STATES = "worldmodel/training.py", "worldmodel/probes/states.py"
JACOBIAN = "worldmodel/probes/readouts/jacobian.py"
METRICS, IMPLIED = "worldmodel/probes/metrics.py", "worldmodel/probes/acceleration.py"
OF_TRAINING = "worldmodel/test_train.py::"
GOES_ON = OF_TRAINING + "test_interrupted_at_any_step_it_goes_on_as_if_nothing_had_happened[4]"
FORMULA = "worldmodel/test_attention.py::test_weights_and_output_agree_with_the_formula"
OF_KICKS = "worldmodel/probes/test_kick_response.py::"
OF_IMPLIED = "worldmodel/probes/test_implied.py::"
IN_WORLDMODEL = [
    mutant(
        ATTENTION, "seen = ahead <= 0 if self.causal", "seen = ahead <= 1 if self.causal",
        "a query sees the next key",
        "worldmodel/test_model.py::test_what_happens_later_changes_nothing_before",
    ),
    mutant(
        ATTENTION, "(ahead > -reach)", "(ahead >= -reach)", "a window is longer by one",
        "worldmodel/test_model.py::test_two_layers_with_a_window_of_two_see_three_positions",
    ),
    mutant(
        ATTENTION, "return end - (row + 1 - reach)", "return end - (row - reach)",
        "N counts one key less in a window",
        "worldmodel/test_attention.py::test_the_count_is_the_number_of_keys_seen",
    ),
    mutant(
        "worldmodel/attention/kinds/lssar.py", "1.0) ** self.p)", "1.0) ** 3)",
        "LSSAR's power is always 3", FORMULA,
    ),
    mutant(
        "worldmodel/attention/dense.py", "(rows.number > 3)", "(rows.number > 2)",
        "LSSAR's offset begins a row too early", FORMULA,
    ),
    mutant(
        "worldmodel/attention/kinds/lssa.py", "math.log(self.d_head)", "math.sqrt(self.d_head)",
        "LSSA's scale is √d", FORMULA,
    ),
    mutant(
        "worldmodel/attention/dense.py",
        "            through.sub_(along_output[..., block.queries, :] / norm)\n", "",
        "the gradient forgets that rows are normalised",
        "worldmodel/test_attention.py::test_the_fast_path_has_the_gradients_of_the_weights",
    ),
    mutant(
        "worldmodel/attention/kinds/softmax.py", "/ math.sqrt(q.shape[-1])", "/ q.shape[-1]",
        "softmax of two keys is scaled by d",
        "worldmodel/test_attention_fused.py::"
        "test_a_sequence_of_two_has_its_own_form_and_the_same_numbers",
    ),
    mutant(
        "worldmodel/model.py", "first * cos - second * sin", "first * cos + second * sin",
        "rotary positions do not rotate",
        "worldmodel/test_model.py::test_positions_are_relative_in_time",
    ),
    mutant(
        "worldmodel/objective.py", 'if target == "displacement":\n        return seen',
        'if target == "displacement":\n        return torch.zeros_like(seen)',
        "the displacement is the position",
        "worldmodel/test_data.py::test_standardised_targets_have_unit_size",
    ),
    mutant(
        "worldmodel/objective.py", "return seen + step", "return seen",
        "the residual is the displacement",
        "worldmodel/test_model.py::test_a_body_without_force_has_no_residual",
    ),
    mutant(
        "worldmodel/objective.py", "return min(1, context_length - 1)", "return 0",
        "the first position counts, which has no velocity",
        "worldmodel/test_extrapolation.py::test_one_pass_over_the_longest_gives_every_segment",
    ),
    mutant(
        "worldmodel/kick.py", "random.uniform(-angle, angle, count)",
        "random.uniform(-angle / 2, angle / 2, count)", "the kick's angle halved",
        OF_IMPLIED + "test_kicks_fill_the_angles_and_factors_that_are_asked_for",
    ),
    mutant(
        "worldmodel/kick.py", "random.uniform(scale[0], scale[1], count)",
        "random.uniform(scale[0], 1.0, count)", "kicks never speed up",
        OF_IMPLIED + "test_kicks_fill_the_angles_and_factors_that_are_asked_for",
    ),
    mutant(
        "worldmodel/config.py", "KICK_ANGLE = 0.5", "KICK_ANGLE = 0.05",
        "kicks are ten times weaker where nothing is asked for",
        OF_KICKS + "test_an_ellipse_is_wrong_until_the_kick_has_left_the_context",
    ),
    mutant(
        STATES, "start=arcs.kick + 1,", "start=arcs.kick,",
        "the correction for the step looks across the kick",
        OF_KICKS + "test_the_law_in_place_of_the_model_does_not_mind_the_kick",
    ),
    mutant(
        STATES, "read=range(arcs.kick + 1, arcs.kick + 1 + steps)",
        "read=range(arcs.kick + 2, arcs.kick + 2 + steps)", "read a step too late after a kick",
        OF_IMPLIED + "test_the_kick_of_the_options_is_the_kick_of_the_states",
    ),
    mutant(
        STATES, "np.arange(1 - length, 1)", "np.arange(-length, 0)",
        "a context ends before the state that is read",
        "worldmodel/probes/test_jacobian.py::test_the_model_s_jacobians_are_its_derivatives",
    ),
    mutant(
        IMPLIED, "position[:, :-1]) / dt**2", "position[:, :-1]) / dt",
        "an acceleration divided by dt", OF_IMPLIED + "test_a_uniform_acceleration_is_read_exactly",
    ),
    mutant(
        IMPLIED, "= arc - bend / 12", "= arc + bend / 12", "the sign of Numerov's correction",
        OF_IMPLIED
        + "test_the_correction_takes_the_error_of_the_step_from_second_to_fourth_order",
    ),
    mutant(
        IMPLIED, "(radius[0] <= r) & (r <= radius[1])", "(radius[0] <= r)",
        "states are read beyond the distances of the training orbits",
        OF_IMPLIED + "test_no_state_is_read_outside_the_distances_of_training",
    ),
    mutant(
        METRICS, 'at = (table["steps_since_kick"] == k)',
        'at = (table["steps_since_kick"] >= k)',
        "R² after a kick averages all later steps",
        OF_IMPLIED + "test_r_squared_after_a_kick_is_that_of_its_step_alone",
    ),
    mutant(
        METRICS, "Interval(-interval.value, -interval.high, -interval.low)",
        "Interval(-interval.value, -interval.low, -interval.high)",
        "an exponent's interval is turned round",
        OF_IMPLIED + "test_the_interval_covers_the_truth_about_as_often_as_it_says",
    ),
    mutant(
        METRICS, "power_law(radial[kept] / gm[kept],", "power_law(radial[kept],",
        "GM is not taken out of the scale", OF_IMPLIED + "test_the_power_of_a_known_field_is_found",
    ),
    mutant(
        TRAINING, "training_positions(source, range(count), config)",
        "training_positions(source, range(facts.orbits), config)", "held-out orbits trained on",
        OF_TRAINING + "test_held_out_orbits_are_never_trained_on[False]",
    ),
    mutant(
        TRAINING, "StreamedBatches(source, count, config)",
        "StreamedBatches(source, facts.orbits, config)", "held-out orbits trained on, streamed",
        OF_TRAINING + "test_held_out_orbits_are_never_trained_on[True]",
    ),
    mutant(
        TRAINING, "spread(count, facts.orbits, HELD_OUT_ORBITS)",
        "spread(0, count, HELD_OUT_ORBITS)", "the held-out loss is that of training orbits",
        OF_TRAINING + "test_the_held_out_loss_is_that_of_held_out_orbits",
    ),
    mutant(
        "worldmodel/world_model.py",
        "return training_orbits(facts, self.record.train.held_out) if own else 0", "return 0",
        "a model is questioned on orbits that it was trained on",
        "worldmodel/test_extrapolation.py::test_only_held_out_orbits_of_the_training_data_are_used",
    ),
    mutant(
        TRAINING, "seen = seen + self.config.context_noise * noise",
        "seen = seen + self.config.context_noise * noise\n"
        "            following = following + self.config.context_noise * noise",
        "noise on the targets", OF_TRAINING + "test_noise_is_on_what_is_seen_and_not_on_targets",
    ),
    mutant(
        TRAINING, "            if improved:\n", "            if True:\n",
        "the best weights are the latest", OF_TRAINING + "test_the_best_weights_are_kept",
    ),
    mutant(
        TRAINING, '        self.batches.restore(_under("batches.", tensors))\n', "",
        "a resumed training begins its batches anew", GOES_ON,
    ),
    mutant(
        TRAINING,
        '        restore_optimizers(self.optimizers, _under("optimizer.", tensors))\n', "",
        "a resumed training forgets momenta", GOES_ON,
    ),
    mutant(
        TRAINING, '        self.noise.set_state(tensors["noise"])\n', "",
        "a resumed training repeats its noise", GOES_ON,
    ),
    mutant(
        "worldmodel/optimizers.py", 'group["lr"] = lr * factor', 'group["lr"] = lr',
        "no warm-up, no cosine", OF_TRAINING + "test_the_learning_rates_rise_and_fall",
    ),
    mutant(
        "worldmodel/optimizers.py", "math.cos(math.pi * step / config.steps)",
        "math.cos(2 * math.pi * step / config.steps)", "the cosine ends where it began",
        OF_TRAINING + "test_the_learning_rates_rise_and_fall",
    ),
    mutant(
        "worldmodel/checkpoint.py",
        'if header.get("sha256", found := sha256_of_tensors(tensors)) != found:',
        "if False:", "damaged weights are loaded",
        OF_TRAINING + "test_one_flipped_bit_is_noticed_by_whoever_reads_the_run[last.safetensors]",
    ),
    mutant(
        "worldmodel/checkpoint.py", 'if header.get("identity") != identity:', "if False:",
        "weights of another run are loaded",
        OF_TRAINING + "test_a_bad_checkpoint_is_never_loaded[another run's]",
    ),
    mutant(
        JACOBIAN, "deviation[:, -2] += np.eye(width)", "deviation[:, -2] -= np.eye(width)",
        "inertia is x(t−1) ahead, not behind",
        "worldmodel/probes/test_jacobian.py::test_inertia_is_local_and_standing_still_is_not",
    ),
    mutant(
        JACOBIAN, '"nsij,nj->ni", jacobians, moved', '"nsij,nj->ni", jacobians[:, -1:], moved',
        "a force's gradient from the last position alone",
        "worldmodel/probes/test_jacobian.py::test_a_misjudged_velocity_does_not_show_as_a_force",
    ),
    mutant(
        "worldmodel/predictors/law.py", "ahead_x - last @ back_x", "ahead_x + last @ back_x",
        "a sign in the law's own Jacobian",
        "worldmodel/probes/test_jacobian.py::test_a_spring_has_the_jacobians_of_its_cosine",
    ),
    mutant(
        "worldmodel/predictors/law.py", "SUBSTEPS = 16", "SUBSTEPS = 1",
        "the injected law is integrated coarsely",
        OF_IMPLIED + "test_the_law_as_predictor_follows_the_law",
    ),
    mutant(
        "worldmodel/predictors/network.py", "UNTRAINED_SEED = 1_000_000", "UNTRAINED_SEED = 0",
        "the untrained control has the weights that training began with",
        OF_IMPLIED + "test_the_weights_of_the_null_are_none_that_a_run_began_with",
    ),
    mutant(
        "worldmodel/predictors/ellipse.py", "(1 - a * np.cos(angle) - b * np.sin(angle))",
        "(1 - a * np.cos(angle) + b * np.sin(angle))", "the fitted ellipse is mirrored",
        "worldmodel/probes/test_ellipse.py::test_kepler_orbits_are_continued_exactly",
    ),
    mutant(
        "worldmodel/probes/readouts/linear.py", ".split(features, groups=dealt)",
        ".split(features, groups=np.arange(len(dealt)))", "folds mix the rows of an orbit",
        "worldmodel/probes/test_linear.py::test_a_group_is_never_predicted_from_itself",
    ),
    mutant(
        "worldmodel/probes/readouts/linear.py",
        "spread = np.sum((targets - targets.mean(axis=0)) ** 2, axis=0)",
        "spread = np.sum(targets**2, axis=0)", "a linear probe's R² against zero",
        "worldmodel/probes/test_linear.py::test_a_target_far_from_zero_is_no_easier",
    ),
    mutant(
        "worldmodel/probes/readouts/transfer.py",
        "few = np.arange(facts.orbits - options.few, facts.orbits)",
        "few = np.arange(options.few)", "forces are read where all labels were given",
        "worldmodel/probes/test_transfer.py::test_the_two_kinds_of_labels_are_on_different_orbits",
    ),
    mutant(
        "worldmodel/probes/readouts/inductive_bias.py", "1 - same / different", "1 - same",
        "R-IB depends on the unit of the answers",
        "worldmodel/probes/test_inductive_bias.py::test_random_answers_do_neither",
    ),
    mutant(
        "worldmodel/predictors/base.py", "found[:, -2] -= straight", "found[:, -2] += straight",
        "the barycentre does not go straight on",
        "worldmodel/probes/test_two_bodies.py::test_every_read_out_takes_pairs",
    ),
    mutant(
        "worldmodel/extrapolation.py", '"ratio": whole[factor - 1] / whole[0]',
        '"ratio": losses[factor - 1] / whole[0]', "the ratio is that of the last segment",
        "worldmodel/test_extrapolation.py::test_the_loss_of_a_length_is_the_mean_over_it",
    ),
    mutant(
        "worldmodel/extrapolation.py", '"late_loss": losses[factor - 1]',
        '"late_loss": losses[0]', "the late loss is the early one",
        "worldmodel/test_extrapolation.py::test_the_loss_of_a_length_is_the_mean_over_it",
    ),
    mutant(
        "worldmodel/recall/base.py", "EVALUATION_SEED = 1_000_003", "EVALUATION_SEED = 2**32",
        "passkeys are evaluated on the sequences of training",
        "worldmodel/test_passkeys.py::test_no_sequence_of_training_is_evaluated",
    ),
    mutant(
        "worldmodel/recall/passkeys.py", "other = key.roll(1, 0)", "other = key",
        "the control asks for the key that is there",
        "worldmodel/test_passkeys.py::"
        "test_trained_attention_reproduces_it_and_an_untrained_one_guesses",
    ),
    mutant(
        "worldmodel/recall/told_mass.py", "radius[:, :2] = TOLD_RADIUS",
        "radius[:, 0] = TOLD_RADIUS",
        "half of what tells the mass is no other than the rest",
        "worldmodel/test_told_mass.py::"
        "test_the_first_two_positions_tell_the_mass_by_kepler_s_third_law",
    ),
    mutant(
        "worldmodel/probes/copier.py", "remembers = Parrot(length, memory=memory)",
        "remembers = Parrot(length)", "the copier of the training orbits copies from the context",
        "worldmodel/outside/test_copiers.py::"
        "test_a_parrot_of_the_training_orbits_stands_beside_one",
    ),
    mutant(
        "worldmodel/outside/backbone.py", "self.module = copy.deepcopy(module)",
        "self.module = module", "fine-tuning changes the user's own network",
        "worldmodel/outside/test_fine_tuning.py::"
        "test_the_input_of_the_last_layer_is_read_and_the_module_stays",
    ),
    mutant(
        "worldmodel/evaluation.py", "true = position[:, length : length + steps]",
        "true = position[:, length - 1 : length - 1 + steps]",
        "a roll-out is compared with the step before",
        "worldmodel/test_world_model.py::test_a_perfect_model_drifts_nowhere",
    ),
    mutant(
        "worldmodel/world_model.py", "and positions.shape[1] > context_length",
        "and positions.shape[1] > 2 * context_length", "a roll-out sees more than a context",
        "worldmodel/test_world_model.py::test_a_roll_out_repeats_the_prediction",
    ),
]  # fmt: skip

CONFIG, JUDGE = "symreg/recovery/config.py", "symreg/recovery/judge.py"
SERVER, OF_SERVER = "symreg/runs/fork_server.py", "symreg/test_fork_server.py::"
STAGES, PIPELINE = "symreg/runs/stages.py", "symreg/runs/pipeline.py"
FIELD, UNCERTAINTY = "symreg/recovery/force_field.py", "symreg/fit/uncertainty.py"
OF_JUDGE, OF_PIPELINE = "symreg/test_judge.py::", "symreg/test_pipeline.py::"
ON_LINE = OF_JUDGE + "test_thresholds_stand_where_the_table_says"
ALONE = OF_JUDGE + "test_each_gate_of_a_law_alone_says_no"
KIND = OF_JUDGE + "test_the_kind_follows_from_kicks_and_the_law"
IN_SYMREG = [
    mutant(
        CONFIG, "above=True)] = 0.8", "above=True)] = 0.61", "61 % of the seeds are enough", ALONE,
    ),
    mutant(
        CONFIG, "keplerian_r2: Annotated[float, FRACTION] = 0.5",
        "keplerian_r2: Annotated[float, FRACTION] = 0.75", "the Keplerian limit at 0.75",
        KIND,
    ),
    mutant(
        CONFIG, "newtonian_r2: Annotated[float, FRACTION] = 0.9",
        "newtonian_r2: Annotated[float, FRACTION] = 0.8", "the Newtonian limit at 0.8", KIND,
    ),
    mutant(
        CONFIG, "orbit_r2: Annotated[float, FRACTION] = 0.8",
        "orbit_r2: Annotated[float, FRACTION] = 0.7",
        "a Keplerian model need not know its orbits", KIND,
    ),
    mutant(
        CONFIG, "kick_r2: Annotated[float, FRACTION] = 0.97",
        "kick_r2: Annotated[float, FRACTION] = 0.9", "kicks are judged at 0.9", ON_LINE,
    ),
    mutant(
        CONFIG, "    r2: Annotated[float, FRACTION] = 0.9",
        "    r2: Annotated[float, FRACTION] = 0.85", "held-out R² of 0.85 is enough", ALONE,
        ON_LINE,
    ),
    mutant(
        CONFIG, "least_r2: Annotated[float, FRACTION] = 0.5",
        "least_r2: Annotated[float, FRACTION] = 0.0",
        "a formula that predicts nothing is compared with laws",
        "symreg/test_recover.py::test_a_formula_that_predicts_nothing_is_no_law",
    ),
    mutant(
        CONFIG, "locality: Annotated[float, FRACTION] = 0.9",
        "locality: Annotated[float, FRACTION] = 0.5", "locality of one half is enough",
        OF_JUDGE + "test_a_jacobian_that_reaches_far_back_is_not_newtonian",
    ),
    mutant(
        CONFIG, "non_central: Margin = 0.15", "non_central: Margin = 0.3",
        "30 % of a force may be non-central", ALONE,
    ),
    mutant(
        CONFIG, "third_law: Margin = 0.15", "third_law: Margin = 0.3",
        "reaction may be off by 30 %",
        "symreg/test_two_body.py::test_the_third_law_may_be_broken_by_the_margin_alone",
    ),
    mutant(
        CONFIG, "anisotropy: Margin = 0.15", "anisotropy: Margin = 0.3",
        "an attraction may depend on the direction by 30 %",
        "symreg/test_recover_table.py::"
        "test_a_central_attraction_that_depends_on_the_direction_is_no_law",
    ),
    mutant(
        CONFIG, "constant_margin: Margin = 0.05", "constant_margin: Margin = 0.1",
        "constants may be off by 10 %", ALONE,
    ),
    mutant(
        "symreg/formulas/config.py", "EXPONENT_MARGIN = 0.05", "EXPONENT_MARGIN = 0.1",
        "exponents may be off by 0.1", ALONE,
    ),
    mutant(
        JUDGE, "abs(value - truth) <= t.exponent_margin", "truth - value <= t.exponent_margin",
        "an exponent may be too large by anything", ALONE,
    ),
    mutant(
        JUDGE, "abs(quantity.relative_error) <= t.constant_margin",
        "-quantity.relative_error <= t.constant_margin", "a constant may be too large by anything",
        ALONE,
    ),
    mutant(
        JUDGE, "agreeing >= t.agreement * run", "run >= t.agreement * agreeing",
        "seeds need not agree", ALONE,
    ),
    mutant(
        JUDGE, "return Gate(name, value <= most,", "return Gate(name, value >= most,",
        "the gates of unwanted parts ask for them", ALONE,
    ),
    mutant(
        JUDGE, "gates += [gate for gate in kicked.gates if gate.name == PERMUTED]", "pass",
        "permuted targets say nothing of the model",
        OF_JUDGE + "test_every_gate_of_the_recovery_counts_for_the_model",
    ),
    mutant(
        JUDGE, 'return Gate(name, not null.recovered, "not recovered", found)',
        'return Gate(name, True, "not recovered", found)', "a null may find a law",
        OF_JUDGE + "test_controls_that_answer_wrongly_fail",
    ),
    mutant(
        JUDGE, 'Gate(INJECTED, injected.recovered, "recovered", found)',
        'Gate(INJECTED, True, "recovered", found)', "the true law need not be found",
        OF_JUDGE + "test_controls_that_answer_wrongly_fail",
    ),
    mutant(
        JUDGE, "gates.append(Gate(what, False, ", "gates.append(Gate(what, True, ",
        "what could not be measured passes",
        OF_JUDGE + "test_what_a_run_could_not_measure_is_no_pass",
    ),
    mutant(
        JUDGE, "LATER_STEP = 4", "LATER_STEP = 1", "kicks are judged at their first step alone",
        OF_JUDGE + "test_a_kick_that_fails_or_was_not_measured_is_no_pass", KIND,
    ),
    mutant(
        JUDGE, "if all(gate.passed for gate in newtonian[:2])",
        "if any(gate.passed for gate in newtonian[:2])",
        "a Newtonian model need be measured at one step only",
        OF_JUDGE + "test_a_kick_that_was_not_measured_makes_nobody_newtonian",
    ),
    mutant(
        JUDGE, "None if later is None else later < t.newtonian_r2",
        "None if later is None else True", "a short memory is Keplerian", KIND,
    ),
    mutant(
        JUDGE, "if kicked.is_found or injected is None or injected.is_found:",
        "if kicked.is_found:", "a Newtonian model needs no law", KIND,
    ),
    mutant(
        "symreg/recovery/recover.py", " + list(problem.gates)\n", "\n",
        "third law and isotropy are not asked for",
        "symreg/test_two_body.py::test_action_equals_reaction_or_there_is_no_law",
    ),
    mutant(
        "symreg/recovery/recover.py",
        "[null_gate(PERMUTED, null) for null in nulls.values()] + ", "",
        "permuted targets say nothing of a law",
        "symreg/test_recover.py::test_a_null_that_finds_a_law_leaves_none_to_claim",
    ),
    mutant(
        "symreg/fit/samples.py", "y=self.y[order]", "y=self.y.copy()",
        "the permuted null is not permuted",
        "symreg/test_recover.py::test_each_law_is_recovered_as_itself[newton]",
    ),
    mutant(
        "symreg/fit/samples.py", "out = np.isin(self.groups, held)",
        "out = rng.permutation(len(self.y)) < len(held) * len(self.y) / len(groups)",
        "rows are held out, not orbits",
        "symreg/test_refine.py::test_whole_groups_are_held_out",
    ),
    mutant(
        "symreg/fit/samples.py", "error = np.log(prediction / self.y)",
        "error = prediction - self.y", "absolute errors for relative ones",
        "symreg/test_refine.py::test_a_factor_counts_the_same_everywhere",
    ),
    mutant(
        "symreg/recovery/finding.py", "outcome = search_seeds(engine, parts.training, config",
        "outcome = search_seeds(engine, parts.whole, config",
        "formulas are fitted to held-out rows",
        "symreg/test_recover.py::test_no_formula_is_fitted_to_held_out_groups",
    ),
    mutant(
        "symreg/recovery/finding.py", "held_out = samples.split(config.held_out, rng)",
        "held_out = (samples, samples.split(config.held_out, rng)[1])",
        "held-out rows are among those of training",
        "symreg/test_recover.py::test_no_formula_is_fitted_to_held_out_groups",
    ),
    mutant(
        "symreg/recovery/references.py", "(one, k * m1 * m2) if law.linear_in_gm",
        "(one, k * (m1 + m2)) if law.linear_in_gm", "G (m1 + m2) for G m1 m2",
        "symreg/test_two_body.py::test_action_equals_reaction_or_there_is_no_law",
    ),
    mutant(
        FIELD, '-radial_part(vectors(table, "a_"), vectors(table))',
        'abs(radial_part(vectors(table, "a_"), vectors(table)))', "a repulsion is an attraction",
        "symreg/test_recover.py::test_a_repulsion_is_not_an_attraction",
    ),
    mutant(
        FIELD, 'target = inward * table["m1"].to_numpy() if force else inward', "target = inward",
        "the force between two bodies is an acceleration",
        "symreg/test_two_body.py::test_action_equals_reaction_or_there_is_no_law",
    ),
    mutant(
        FIELD, "FEW_REPELLED = 0.02", "FEW_REPELLED = 0.5", "half of the rows may be left out",
        "symreg/test_recover.py::test_a_few_repelled_rows_are_left_out_and_reported",
    ),
    mutant(
        UNCERTAINTY, "value - np.hypot(below[i], systematic[i])", "value - below[i]",
        "no systematic error below",
        "symreg/test_uncertainty.py::"
        "test_a_smooth_error_of_the_floors_size_is_not_taken_for_an_exponent",
        "symreg/test_uncertainty.py::test_intervals_hold_the_truth",
    ),
    mutant(
        UNCERTAINTY, "value + np.hypot(above[i], systematic[i])",
        "value + above[i] + systematic[i]", "errors are added, not in quadrature",
        "symreg/test_uncertainty.py::test_statistical_and_systematic_parts_add_in_quadrature",
    ),
    mutant(
        UNCERTAINTY, "if len(groups) < 4:", "if True:", "the bootstrap resamples rows",
        "symreg/test_uncertainty.py::test_the_bootstrap_resamples_orbits_not_rows",
    ),
    mutant(
        UNCERTAINTY, "CONFIDENCE = 0.95", "CONFIDENCE = 0.5", "intervals of constants hold 50 %",
        "symreg/test_uncertainty.py::test_the_statistical_part_is_two_standard_errors",
    ),
    mutant(
        "symreg/fit/noise.py", "weights = 1 / error", "weights = 1 * error",
        "rows that scatter count more",
        "symreg/test_refine.py::"
        "test_rows_that_scatter_count_less_and_a_smooth_deviation_does_not",
    ),
    mutant(
        "symreg/fit/refine.py",
        "len(self.constants) * np.log(n) + few + NODE_COST * self.nodes", "0.0",
        "constants and nodes cost nothing", "symreg/test_refine.py",
    ),
    mutant(
        "symreg/formulas/expressions.py", "for argument in expression.args if argument != -1]",
        "for argument in expression.args]", "a minus sign is an operator",
        "symreg/test_expressions.py::test_complexity_counts_what_is_written",
    ),
    mutant(
        "symreg/formulas/compare.py", "scale = float(ratio) if", "scale = float(1 / ratio) if",
        "a scale is turned round",
        "symreg/test_compare.py::test_a_factor_never_changes_the_structure",
    ),
    mutant(
        "symreg/formulas/compare.py", "        if apart <= margin:",
        "        if apart <= 10 * margin:", "exponents are the same at ten times the margin",
        "symreg/test_compare.py::test_pairs_are_decided_rightly",
    ),
    mutant(
        "symreg/formulas/compare.py", "NUMERICAL_TOLERANCE = 1e-8", "NUMERICAL_TOLERANCE = 1e-2",
        "a ratio that varies by 1 % is constant",
        "symreg/test_compare.py::test_pairs_are_decided_rightly",
        "symreg/test_compare.py::test_a_small_term_is_no_equivalence",
    ),
    mutant(
        STAGES, "HELD_OUT_SEED_OFFSET = 1_000_003", "HELD_OUT_SEED_OFFSET = 0",
        "the held-out orbits are the training orbits",
        OF_PIPELINE + "test_no_two_sets_of_orbits_share_a_seed",
    ),
    mutant(
        STAGES, "LONG_SEED_OFFSET = 2_000_003", "LONG_SEED_OFFSET = 0",
        "the long orbits are the training orbits",
        OF_PIPELINE + "test_no_two_sets_of_orbits_share_a_seed",
    ),
    mutant(
        STAGES, 'PLANETS if name == "planets" else HELD_OUT, f"forces',
        'PLANETS if name == "planets" else TRAIN, f"forces', "laws are read off training orbits",
        OF_PIPELINE + "test_every_question_is_asked_of_the_right_model_and_states",
    ),
    mutant(
        STAGES, "_probe(config, name, title, HELD_OUT, out, readout=name)",
        "_probe(config, name, title, TRAIN, out, readout=name)",
        "read-outs are read off training orbits",
        OF_PIPELINE + "test_every_question_is_asked_of_the_right_model_and_states",
    ),
    mutant(
        STAGES, 'model = BEGINNING if options.get("control", "none") != "none" else MODEL',
        "model = BEGINNING", "the untrained model is questioned",
        OF_PIPELINE + "test_every_question_is_asked_of_the_right_model_and_states",
    ),
    mutant(
        STAGES, 'states = "orbit" if undisturbed else "kicked"',
        'states = "kicked" if name == "kicked" else "orbit"', "controls are not kicked",
        OF_PIPELINE + "test_every_question_is_asked_of_the_right_model_and_states",
    ),
    mutant(
        SERVER, ", \"JE_ARROW_MALLOC_CONF\": \"background_thread:false\"}", "}",
        "processes are forked beside a thread of an allocator",
        OF_SERVER + "test_the_server_has_one_thread_when_all_is_loaded",
    ),
    mutant(
        SERVER, "set_num_threads(int(os.environ[\"OMP_NUM_THREADS\"]))", "set_num_threads(1)",
        "a large model trains with one thread",
        OF_SERVER + "test_torch_takes_the_threads_of_each_process",
    ),
    mutant(
        SERVER, "            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])",
        "            pass", "Ctrl-C ends the server while it starts",
        OF_SERVER + "test_ctrl_c_before_the_server_is_ready_is_no_traceback",
    ),
    mutant(
        SERVER, "with suppress(Exception):", "with suppress(ImportError):",
        "a broken library ends the server",
        OF_SERVER + "test_a_library_that_cannot_be_loaded_is_the_stages_own_affair",
    ),
    mutant(
        SERVER, "            signal.signal(signal.SIGINT, interruption)", "            pass",
        "stages do not hear Ctrl-C",
        OF_SERVER + "test_ctrl_c_ends_the_processes_and_not_the_server",
    ),
    mutant(
        SERVER, "signal.signal(signal.SIGINT, signal.SIG_IGN)", "signal.getsignal(signal.SIGINT)",
        "Ctrl-C ends the server before its processes",
        OF_SERVER + "test_ctrl_c_ends_the_processes_and_not_the_server",
    ),
    mutant(
        PIPELINE, "[name for name in inputs if inputs[name] != record.inputs.get(name)]", "[]",
        "stage inputs not compared",
        OF_PIPELINE + "test_a_changed_input_is_noticed_though_the_output_is_whole",
    ),
    mutant(
        PIPELINE, "if output != record.output:", "if False:", "stage outputs not compared",
        OF_PIPELINE + "test_a_changed_file_is_made_again_with_all_that_follows",
    ),
    mutant(
        PIPELINE, "(stage.command, stage.options) != (record.command, record.options)",
        "stage.command != record.command", "options of stages not compared",
        OF_PIPELINE + "test_a_changed_input_is_noticed_though_the_output_is_whole",
    ),
    mutant(
        PIPELINE, 'kept.pop("sha256") == sha256_of_json(kept)', 'kept.pop("sha256")',
        "checksums of records not compared",
        OF_PIPELINE + "test_a_damaged_record_is_no_record",
    ),
    mutant(
        "symreg/runs/run.py", "recovered=None if kicked is None else passed(gates)",
        "recovered=None if kicked is None else kicked.recovery.recovered",
        "a run's verdict leaves out kicks and controls",
        OF_JUDGE + "test_the_verdict_of_a_run_counts_kicks_and_controls",
    ),
    mutant(
        "symreg/runs/run.py", 'metrics.get("r2") if name != "planets" or law == NEWTON else None',
        'metrics.get("r2")', "a model of another law is compared with Newton on real planets",
        OF_JUDGE + "test_real_planets_are_compared_with_newton_alone",
    ),
    mutant(
        "symreg/studies/cells.py",
        "found.configuration_sha256 == sha256_of_json(cell.config.identity)", "found",
        "a study takes cells of other options for finished",
        "symreg/test_study.py::test_more_read_outs_may_be_asked_of_finished_cells",
    ),
    mutant(
        "symreg/runs/readouts.py", "errors[step - 1] for step", "errors[step] for step",
        "roll-out errors of the step after",
        OF_JUDGE + "test_roll_out_errors_are_those_of_their_step",
    ),
]  # fmt: skip

PYSR, NOISE, FORMULA_UNITS = (
    "symreg/engines/pysr.py", "symreg/fit/noise.py", "symreg/formulas/units.py",
)  # fmt: skip
WILD, OWN_TABLE = "symreg/fit/wild.py", "symreg/test_own_table.py::test_"
DISCOVERY, PROJECTION = "symreg/test_discovery.py::test_", "symreg/test_projection.py::test_"
OF_REFINE = "symreg/test_refine.py::"
IN_DISCOVERY = [
    mutant(
        "symreg/recovery/pool.py", "if is_same_law(law, pool[k], samples)",
        "if pool[k] is law", "a law does not agree with itself in another writing",
        OWN_TABLE + "a_sum_that_can_be_written_in_many_ways_is_found_with_an_idle_column",
    ),
    mutant(
        "symreg/fit/refine.py", "fit(form, start, alike).mean_square < SAME_LAW**2", "True",
        "every law agrees with every other",
        OF_REFINE + "test_a_law_written_in_another_way_is_the_same_law",
    ),
    mutant(
        "symreg/fit/refine.py", "sympy.Rational(law.constants[index])",
        "sympy.Float(law.constants[index])",
        "an exponent is a number as any",
        OF_REFINE + "test_a_law_written_in_another_way_is_the_same_law",
    ),
    mutant(
        "symreg/engines/projection.py", "agrees = with_variables and ", "agrees = ",
        "a formula that changes its sign by itself is taken for all there is",
        OWN_TABLE + "a_target_whose_sign_goes_with_a_variable_is_explained_by_a_product",
    ),
    mutant(
        "symreg/projection/tidy.py", "if np.any(values < 0):", "if False:",
        "signs of features are not looked at",
        PROJECTION + "signs_of_features_are_written_as_they_are",
    ),
    mutant(
        "symreg/projection/tidy.py", "ROUNDING = 1e-11", "ROUNDING = 0.1",
        "exact data are taken for noisy ones: an exponent of 1.97 becomes 2",
        PROJECTION + "an_exponent_is_set_in_noise_and_not_in_exact_data",
    ),
    mutant(
        "symreg/engines/projection.py", "if usable.sum() < 0.8 * len(y):",
        "if usable.sum() < 0.1 * len(y):", "half the rows may be zero and are left out",
        PROJECTION + "a_column_of_zeros_and_ones_is_a_term",
    ),
    mutant(
        NOISE, "return min(1.0, least * len(columns), ", "return min(least, ",
        "the least chance of ten features is taken for that of one",
        DISCOVERY + "the_chance_of_a_misfit_is_uniform_where_there_is_none",
    ),
    mutant(
        NOISE, "columns = [*X.T, *_interactions(X)]", "columns = [*X.T]",
        "a misfit in a product of features is not looked for",
        DISCOVERY + "a_misfit_in_a_product_of_two_of_six_features_is_seen",
    ),
    mutant(
        "symreg/recovery/discovery.py", "carried = refit_law(law, inside)", "carried = law",
        "the held-out range is fitted to before it is held out",
        DISCOVERY + "a_polynomial_that_fits_inside_alone_fails_at_the_ends",
    ),
    mutant(
        "symreg/recovery/pool.py", "for law in shown) + 2 * jacobian",
        "for law in shown) - 2 * jacobian", "the density of relative errors has the wrong factor",
        DISCOVERY + "relative_and_equal_errors_are_told_apart",
    ),
    mutant(
        "symreg/recovery/pool.py",
        "errors = floored(np.where(np.isfinite(predicted), predicted, samples.y))",
        "errors = floored(samples.y)", "errors are relative to the noisy target",
        DISCOVERY + "noise_that_goes_with_the_target_leaves_its_constant_right",
    ),
    mutant(
        UNCERTAINTY, "as_left_out=floor == 0)", "as_left_out=False)",
        "few rows have the intervals of many",
        "symreg/test_uncertainty.py::test_few_rows_have_intervals_that_hold_the_truth",
    ),
    mutant(
        "symreg/engines/projection.py", "z * np.sum(z[np.isfinite(z)]) > 0", "z != 0",
        "rows in which noise has turned the sign stay in a logarithm",
        PROJECTION + "one_more_step_around_a_product_is_taken",
    ),
    mutant(
        "symreg/projection/products.py", "(product.linear - values)[free] ** 2 / ",
        "np.abs(product.linear - values)[free] / ", "what a set number costs is not what it costs",
        PROJECTION + "what_it_costs_to_set_a_number_is_what_it_costs",
    ),
    mutant(
        FORMULA_UNITS, "    if not powers:\n", "    if True:\n",
        "a constant beside a fitted power of seconds is in metres",
        "symreg/test_units.py::test_a_fitted_exponent_leaves_the_unit_in_front_open",
    ),
    mutant(
        FORMULA_UNITS, '"C": _unit(1, 0, 0, 1, 0, 1)', '"C": _unit(1, 0, 0, -1, 0, 1)',
        "a coulomb is an ampere over a second",
        "symreg/test_units.py::test_derived_units_are_products_of_others",
    ),
    mutant(
        PYSR, "if budget.max_size < LEAST_SIZE:", "if budget.max_size < 4:",
        "PySR is started with a size that it does not take",
        "symreg/test_pysr.py::test_a_size_that_pysr_does_not_take_is_refused_before_it_starts",
    ),
    mutant(
        PYSR, "if names is None else _with_names(kept, names, path)", "if True else []",
        "PySR's own names of features become constants",
        "symreg/test_pysr.py::test_pysrs_own_names_are_the_features_in_their_order",
    ),
    mutant(
        "symreg/formulas/julia.py", "LONGEST_PRODUCT = 8", "LONGEST_PRODUCT = 1",
        "a guess with a fourth power is refused where there is no ^",
        "symreg/test_pysr.py::test_a_guess_is_rewritten_to_what_pysr_reads",
    ),
    mutant(
        "orbits/command/parent.py", "ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)",
        "pass", "a process inside Julia outlives the command",
        "symreg/test_pysr.py::test_a_process_inside_julia_dies_with_its_killed_parent",
    ),
    mutant(
        WILD, "return alone if alone.mean() <= MOST else", "return alone if True else",
        "any number of rows may be wild",
        OWN_TABLE + "many_rows_or_rows_that_lie_together_are_never_left_out",
    ),
    mutant(
        WILD, "alone = wild & (wild[near[:, 1:]].mean(axis=1) <= TOGETHER)", "alone = wild",
        "rows that lie together may be wild",
        OWN_TABLE + "many_rows_or_rows_that_lie_together_are_never_left_out",
    ),
    mutant(
        "symreg/recovery/finding.py", "aside = standing_out(samples)",
        "aside = np.zeros(len(samples.y), dtype=bool)", "no row is put aside before the search",
        OWN_TABLE + "a_wild_row_in_a_hundred_is_left_out_and_named[40.0-0.0]",
    ),
    mutant(
        "symreg/recovery/user_table.py", "if twin is not None:", "if False:",
        "a duplicated column is searched",
        OWN_TABLE + "idle_columns_are_left_out_with_a_note",
    ),
    mutant(
        "symreg/fit/form.py", "TIMES * drawn)", "drawn)",
        "frequencies are tried up to one alone",
        OWN_TABLE + "a_form_is_fitted_in_the_right_basin[p*sin(w*a)-truth0]",
    ),
    mutant(
        "symreg/fit/uncertainty.py", "return np.asarray(shape * np.outer(width, width))",
        "return np.diag(width**2)", "constants are not correlated in predictions",
        OWN_TABLE + "intervals_of_predictions_hold_the_law",
    ),
    mutant(
        "symreg/recovery/constants.py", "if _units()[name].powers == unit.powers", "if True",
        "a constant is recognised whatever its unit",
        OWN_TABLE + "constants_are_recognised_by_value_and_unit",
    ),
    mutant(
        "symreg/engines/base.py", "if place and budget.watch.over:", "if False:",
        "searches begin when the time is over",
        OWN_TABLE + "seeds_without_time_are_left_out_but_one_always_runs",
    ),
    mutant(
        PYSR, "seconds / len(seeds),", "seconds,", "every seed of a process has all its time",
        "symreg/test_pysr.py::test_seeds_share_processes_and_the_time_that_is_left",
    ),
    mutant(
        "symreg/studies/answer.py", "values.dropna().astype(float)",
        "values.dropna().astype(float).head(1)", "the first seed stands for all",
        "symreg/test_study_figures.py::test_the_answer_counts_kinds_by_setting_and_by_value",
    ),
]  # fmt: skip
MUTANTS = [*IN_ORBITS, *IN_WORLDMODEL, *IN_SYMREG, *IN_DISCOVERY]


def copy_of_the_code(folder: Path) -> Path:
    """The packages and tests, copied into a folder."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder / name)
    # by their contents: a mutant may be as long as what it replaces, and of the same second
    compileall.compile_dir(
        folder, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
    )
    return folder


def occurrences(mutant: Mutant, root: Path = ROOT) -> int:
    """How often the text that a mutant replaces is in its file."""
    return (root / mutant.file).read_text().count(mutant.old)


@contextmanager
def put_in(mutant: Mutant, copy: Path) -> Iterator[None]:
    """The mutant in its file of the copy, which is restored at the end.

    Raises:
        ValueError: if the text is not there exactly once: the mutant is stale.
    """
    found = occurrences(mutant, copy)
    if found != 1:
        raise ValueError(
            f"stale mutant ({mutant.what}): its text is {found} times in {mutant.file}, not once; "
            f"write it anew: {mutant.old!r}"
        )
    path = copy / mutant.file
    whole = path.read_text()
    path.write_text(whole.replace(mutant.old, mutant.new))
    try:
        yield
    finally:
        path.write_text(whole)


def run_tests(copy: Path, tests: Sequence[str], limit: float | None) -> tuple[int | None, str]:
    """Run some tests of a copy until the first fails, in a process of their own.

    The process is a fork of this one, which has imported what every test needs, but nothing of
    the project.

    Returns:
        The exit code of pytest, None after the time limit, and what it printed.
    """
    log = copy / "log.txt"
    process = get_context("fork").Process(target=_pytest, args=(copy, tests, log))
    process.start()
    process.join(limit)
    if process.is_alive():
        os.killpg(process.pid or 0, signal.SIGKILL)  # and all that the tests have started
        process.join()
        return None, log.read_text()
    return process.exitcode, log.read_text()


def _pytest(copy: Path, tests: Sequence[str], log: Path) -> None:
    """Become the process of some tests, which see the packages of the copy and no others."""
    import pytest

    os.setsid()
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)
    sys.path[0] = str(copy)
    sys.dont_write_bytecode = True
    options = "-x -q --tb=line -rfE --disable-warnings -p no:cacheprovider".split()
    configured = ["-o", "addopts=--import-mode=importlib"]
    code = pytest.main([*options, *configured, *(f"tests/{test}" for test in tests)])
    for package in PACKAGES:
        (origin,) = importlib.import_module(package).__path__
        if origin != str(copy / package):
            code = pytest.ExitCode.INTERNAL_ERROR
            print(f"not the copy was tested, but {origin}")
    sys.stdout.flush()
    os._exit(code)


def require_green(copy: Path, mutants: Sequence[Mutant]) -> None:
    """Run every test selection without a mutant.

    Raises:
        ValueError: if one fails or is not there.
    """
    tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    code, printed = run_tests(copy, tests, None)
    if code != PASSED:
        raise ValueError(f"without any mutant the tests are not green:\n{printed[-3000:]}")


def outcome_of(mutant: Mutant, copy: Path) -> Outcome:
    """Whether the tests notice a mutant.

    Raises:
        ValueError: if the mutant is stale, or its tests could not run at all.
    """
    began = time.monotonic()
    with put_in(mutant, copy):
        code, printed = run_tests(copy, mutant.tests, LIMIT)
    seconds = time.monotonic() - began
    if code is None:
        return Outcome(mutant, "the time limit", seconds)
    if code == PASSED:
        return Outcome(mutant, None, seconds)
    failed = re.search(r"^(?:FAILED|ERROR) tests/(.+?)(?: - .*)?$", printed, re.MULTILINE)
    if code != FAILED or failed is None:
        raise ValueError(f"the tests of a mutant did not run ({mutant.what}):\n{printed[-3000:]}")
    return Outcome(mutant, re.sub(r"^(\w+/)+", "", failed[1]), seconds)


def row(number: int, outcome: Outcome) -> str:
    """A row of the table."""
    killer = "**nobody: it survives**"
    if outcome.killer is not None:
        killer = f"`{outcome.killer.partition('[')[0]}`"  # whatever its parameters
    mutant = outcome.mutant
    return f"| {number} | {mutant.file} | {mutant.what} | {killer} | {outcome.seconds:.0f} |"


def main() -> int:
    """Run the mutants and print their table; 1 if any survives."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, help="those of these numbers")
    parser.add_argument("--only", default="", help="those with this word in file or description")
    parser.add_argument("--list", action="store_true", help="say what they are and run nothing")
    options = parser.parse_args()
    word = options.only.lower()
    chosen = [
        (number, mutant)
        for number, mutant in enumerate(MUTANTS, 1)
        if word in f"{mutant.file} {mutant.what}".lower()
        and (not options.numbers or number in options.numbers)
    ]
    if options.list:
        for number, mutant in chosen:
            print(f"{number:3d}  {mutant.file}: {mutant.what}")
        return 0
    began = time.monotonic()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for module in HEAVY:
        with suppress(ImportError):
            importlib.import_module(module)
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of_the_code(Path(folder).resolve())
        require_green(copy, [mutant for _, mutant in chosen])
        print(f"without a mutant all tests are green ({time.monotonic() - began:.0f} s)\n")
        print("| no. | file | what is broken | killed by | seconds |\n|---|---|---|---|---|")
        for number, mutant in chosen:
            outcome = outcome_of(mutant, copy)
            print(row(number, outcome), flush=True)
            if outcome.killer is None:
                survived.append(number)
    told = f"survivors: {', '.join(map(str, survived))}" if survived else "none survives"
    print(f"\n{len(chosen)} mutants, {time.monotonic() - began:.0f} s: {told}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
