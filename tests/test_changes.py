"""Changes of the domain on a small fleet: what each edit does, in which words, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster.changes import Change, Comparison, Effect, compare
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.pipeline import Evaluation, evaluate
from tests.repo import MODELS, PC5, PLATFORM, PVE44, ROLES, files

P, R, M = "catalog/platform.yaml", "catalog/roles.yaml", "catalog/models.yaml"
N44, PC = "inventory/pve44.yaml", "inventory/GODE-PC-05.yaml"
TEXTS = {P: PLATFORM, R: ROLES, M: MODELS, N44: PVE44, PC: PC5}
Told = tuple[str, str, str, str, str]


def fleet(*edits: tuple[str, str, str], **more: str) -> dict[str, str]:
    """The fleet where in each of these files one text is another; every edit must find its text."""
    texts = {**TEXTS, **files(), **more}
    for path, old, new in edits:
        assert old in texts[path], f"{old!r} is not in {path}"
        texts[path] = texts[path].replace(old, new)
    return texts


def diff(before: dict[str, str], after: dict[str, str]) -> Comparison:
    """The comparison of two fleets, where the second continues the plan of the first."""
    old = evaluate(before)
    assert old.planned is not None
    return compare(old, continued(old, after))


def continued(old: Evaluation, after: dict[str, str]) -> Evaluation:
    """The evaluation of a fleet on top of another."""
    assert old.planned is not None
    return evaluate(after, old.planned.plan, like=old)


def told(comparison: Comparison) -> list[Told]:
    """Effect, kind, name, summary, cause of each change."""
    return [(one.effect.value, one.kind, one.name, one.summary, one.cause) for one in comparison.changes]


def edited(*edits: tuple[str, str, str]) -> list[Told]:
    """What these edits do to the small fleet."""
    return told(diff(fleet(), fleet(*edits)))


def of(comparison: Comparison, *names: str) -> list[Told]:
    """What is told of things with these names."""
    return [one for one in told(comparison) if one[2] in names]


def only(comparison: Comparison, kind: str) -> Change:
    """The one change of a kind."""
    (found,) = (one for one in comparison.changes if one.kind == kind)
    return found


SECOND = PVE44.replace("pve44", "pve46").replace("  - index: 0", "  - index: 0\n    disabled: true", 0)


def two_nodes(*edits: tuple[str, str, str]) -> dict[str, str]:
    """A fleet with a second node like the first."""
    return fleet(*edits, **{"inventory/pve46.yaml": SECOND})


def test_a_disabled_card_moves_its_role_and_everything_that_follows_is_one_line() -> None:
    off = (N44, "  - index: 1\n", '  - index: 1\n    disabled: true\n    reason: "fan broken"\n')
    comparison = diff(two_nodes(), two_nodes(off))
    assert told(comparison) == [
        ("move", "role", "embedding", "moves from pve44/1 to pve46/1", "pve44/1 is disabled: fan broken"),
        ("update", "node", "pve44/1", "is disabled: Quadro P2000 (fan broken)", ""),
    ]
    move = only(comparison, "role")
    assert (move.before, move.after) == ("pve44/1", "pve46/1")
    assert [(one.file, one.collection, one.name) for one in move.covers] == [
        ("ansible/hosts.yaml", "hosts", "gpu-pve44"),
        ("ansible/hosts.yaml", "hosts", "gpu-pve46"),
        ("litellm.yaml", "model_list", "embed@gpu-pve44"),
        ("litellm.yaml", "model_list", "embed@gpu-pve46"),
        ("placement.yaml", "assignments", "embedding pve44/1"),
        ("placement.yaml", "assignments", "embedding pve46/1"),
        ("proxmox.yaml", "guests", "gpu-pve44"),
        ("proxmox.yaml", "guests", "gpu-pve46"),
        ("registry.yaml", "slots", "embed"),
    ]


SERVED = (R, "slots: [embed]", "slots: [{name: embed, port: 8082}]")
OTHER_PORT = (R, "slots: [embed]", "slots: [{name: embed, port: 9082}]")
DOWN = (N44, "name: pve44\n", "name: pve44\nstate: down\n")


def test_a_port_is_told_even_where_the_role_moves_in_the_same_merge() -> None:
    comparison = diff(two_nodes(SERVED), two_nodes(OTHER_PORT, DOWN))
    move = ("move", "role", "embedding", "moves from pve44/1 to pve46/1", "pve44 is down")
    assert of(comparison, "embedding", "embed") == [move, ("update", "slot", "embed", "port 8082 → 9082", "")]
    (slot,) = (one for one in comparison.changes if one.name == "embed")
    assert [one.path for one in slot.fields] == [
        ("litellm.yaml", "model_list", "embed@gpu-pve44"),
        ("litellm.yaml", "model_list", "embed@gpu-pve46"),
        ("registry.yaml", "slots", "embed", "endpoints"),
    ]
    assert of(diff(two_nodes(SERVED), two_nodes(SERVED, DOWN)), "embedding", "embed") == [move]


def test_what_answers_is_told_even_where_the_role_moves_in_the_same_merge() -> None:
    assert of(diff(fleet(), fleet(DOWN)), "embedding", "embed") == [
        ("move", "role", "embedding", "moves from pve44/1 to GODE-PC-05/0", "pve44 is down"),
        ("update", "slot", "embed", "backend vm → worker", ""),
    ]


def test_a_place_that_stays_has_its_other_address_told_where_another_place_moves() -> None:
    twice = (R, "    priority: 10\n", "    priority: 10\n    count: 2\n")
    base = ("gpu_vm:\n", 'gpu_vm:\n  overrides: {pve46: {address: "192.168.100.%d"}}\n')
    before, after = (two_nodes(twice, (P, base[0], base[1] % last)) for last in (231, 232))
    after[N44] = after[N44].replace("name: pve44\n", "name: pve44\nstate: down\n")
    found = told(diff(before, after))
    assert ("move", "role", "embedding", "moves from pve44/1 to GODE-PC-05/0", "pve44 is down") in found
    text = "answers at 192.168.100.232:8080 instead of 192.168.100.231:8080; backend vm → vm and worker"
    assert ("update", "slot", "embed", text, "") in found


def test_a_role_without_a_place_says_why_and_its_slot_says_what_callers_get() -> None:
    assert edited((PC, "memory_gb: 20", "memory_gb: 12")) == [
        (
            "lose",
            "role",
            "general",
            "loses its place on GODE-PC-05/0",
            "GODE-PC-05/0 has 12 GB; 0/3 GPUs fit: 1 disabled, 2 with less than 16 GB",
        ),
        (
            "lose",
            "slot",
            "tier1",
            "becomes unavailable; calls fall back to tier0",
            "because general loses its place",
        ),
    ]


def test_a_model_that_grows_no_longer_fits_and_its_slot_serves_nothing() -> None:
    assert edited((M, "vram_gb: 10.5", "vram_gb: 25")) == [
        ("lose", "slot", "tier1", "becomes unavailable; calls fall back to tier0", "qwen3-14b no longer fits"),
        ("record", "model", "qwen3-14b", "no longer fits general", "it needs 25 GiB, 20 GiB are there"),
    ]


def test_a_smaller_model_takes_over_where_the_larger_one_no_longer_fits() -> None:
    second = (M, "  piper-de:", "  phi: {kind: llm, vram_gb: 9, engines: [llamacpp]}\n  piper-de:")
    grown = (M, "vram_gb: 10.5", "vram_gb: 25")
    assert told(diff(fleet(second), fleet(second, grown))) == [
        ("update", "slot", "tier1", "serves phi instead of qwen3-14b", "qwen3-14b no longer fits"),
        ("record", "model", "qwen3-14b", "no longer fits general", "it needs 25 GiB, 20 GiB are there"),
    ]
    assert told(diff(fleet(second, grown), fleet(second))) == [
        ("update", "slot", "tier1", "serves qwen3-14b instead of phi", "qwen3-14b is the largest that fits"),
        ("record", "model", "qwen3-14b", "fits general now", "until now it needed 25 GiB, 20 GiB were there"),
    ]


def test_models_that_come_and_go() -> None:
    assert edited((M, "qwen3-14b", "qwen3-15b")) == [
        ("update", "slot", "tier1", "serves qwen3-15b instead of qwen3-14b", "qwen3-14b is no longer in the catalog"),
        ("record", "model", "qwen3-14b", "no longer fits general", "it is no longer in the catalog"),
        ("record", "model", "qwen3-15b", "fits general now", "it is new in the catalog"),
    ]


def test_a_role_that_is_removed_loses_its_slot() -> None:
    block = ROLES[ROLES.index("  general:") : ROLES.index("  speech:")]
    assert edited((R, block, "")) == [
        ("lose", "role", "general", "is removed; it ran on GODE-PC-05/0", "it is no longer in catalog/roles.yaml"),
        ("lose", "slot", "tier1", "is removed", "because general is removed"),
    ]
    assert told(diff(fleet((R, block, "")), fleet())) == [
        ("create", "role", "general", "is new and runs on GODE-PC-05/0", ""),
        ("create", "slot", "tier1", "is new: qwen3-14b at 192.168.100.105:8080", "because general is new"),
    ]


def test_a_slot_changes_its_fallback() -> None:
    assert edited((R, "fallback: [tier0]", "fallback: [embed, tier0]"))[0] == (
        "update",
        "slot",
        "tier1",
        "falls back to embed, then tier0 instead of tier0",
        "",
    )


def test_a_higher_priority_takes_the_card() -> None:
    needs = "needs: {{engine: llamacpp, min_vram_gb: 2}}\n    kinds: [embedding]\n"
    more = f"  rerank:\n    priority: {{}}\n    {needs}  general:"
    low, high = (("  general:", more.format(number)) for number in (20, 5))
    before = fleet((R, *low))
    found = told(diff(before, fleet((R, *high))))
    why = "rerank takes pve44/1 (priority 5 comes before 10)"
    assert ("move", "role", "embedding", "moves from pve44/1 to GODE-PC-05/0", why) in found
    why = "rerank comes before embedding now (priority 5, 10); a smaller card that fits: 5 GB instead of 20 GB"
    assert ("move", "role", "rerank", "moves from GODE-PC-05/0 to pve44/1", why) in found


@pytest.mark.parametrize(
    ("edit", "effect", "summary"),
    [
        ((P, "memory_gb: 8\n", "memory_gb: 10\n"), "restart", "restarts: memory 8 → 10 GiB"),
        (
            (P, "vmid: 101", "vmid: 111"),
            "replace",
            "is destroyed and created anew: VM id 101 → 111; its data on local-lvm is lost",
        ),
        ((P, "disk_gb: 60", "disk_gb: 80"), "update", "changes in place: disk 60 → 80 GiB"),
        (
            (P, "disk_gb: 60", "disk_gb: 50"),
            "refuse",
            "cannot be changed like this: disk 60 → 50 GiB (no disk shrinks: OpenTofu's gate refuses it, and the apply "
            "would end half way)",
        ),
        ((P, "cores: 4", "cores: 3"), "update", "changes in place: cores 4 → 3"),
        ((P, "100.221", "100.222"), "restart", "restarts: address 192.168.100.221/24 → 192.168.100.222/24"),
        ((P, "services: [piper]", "services: [piper, redis]"), "update", "changes in place: services +redis"),
        (
            (P, "12.7-1_amd64", "12.8-1_amd64"),
            "update",
            "changes in place: template local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst → "
            "local:vztmpl/debian-12-standard_12.8-1_amd64.tar.zst (of containers made from now on)",
        ),
    ],
)
def test_what_an_edit_does_to_a_container(edit: tuple[str, str, str], effect: str, summary: str) -> None:
    change = only(diff(fleet(), fleet(edit)), "guest")
    assert (change.name, change.effect.value, change.summary) == ("infra", effect, summary)


@pytest.mark.parametrize(
    ("edit", "effect", "summary"),
    [
        ((P, "memory_gb: 12", "memory_gb: 14"), "restart", "restarts: memory 12 → 14 GiB"),
        ((P, "cores: 6", "cores: 5"), "restart", "restarts: cores 6 → 5"),
        (
            (P, "vmid_base: 200", "vmid_base: 300"),
            "replace",
            "is destroyed and created anew: VM id 244 → 344; its data on local-lvm is lost",
        ),
        (
            (P, "disk_gb: 120", "disk_gb: 100"),
            "refuse",
            "cannot be changed like this: disk 120 → 100 GiB (no disk shrinks: OpenTofu's gate refuses it, and the "
            "apply would end half way)",
        ),
        (
            (P, 'version: "580.95.05"', 'version: "580.126.09"'),
            "restart",
            "restarts: driver version 580.95.05 → 580.126.09; by Ansible, VM by VM, behind a snapshot",
        ),
        ((P, "noble/20261101", "noble/20261122"), "update", "changes in place: image url (of VMs made from now on)"),
        (
            (N44, "Quadro P2000", "Tesla T4"),
            "restart",
            "restarts: cards +gpu-t4-pve44 in hostpci1, -gpu-p2000-pve44 in hostpci1",
        ),
    ],
)
def test_what_an_edit_does_to_a_vm(edit: tuple[str, str, str], effect: str, summary: str) -> None:
    found = [one for one in diff(fleet(), fleet(edit)).changes if one.name == "gpu-pve44"]
    assert [(one.effect.value, one.summary) for one in found] == [(effect, summary)]


def test_a_network_change_restarts_every_guest() -> None:
    found = edited((P, 'gateway: "192.168.100.1"', 'gateway: "192.168.100.2"'))
    text = "restarts: gateway 192.168.100.1 → 192.168.100.2"
    assert found == [("restart", "guest", name, text, "") for name in ("gpu-pve44", "infra")]


def test_a_renamed_proxmox_node_is_destroyed_and_created() -> None:
    """gitops B 30: never a wall of lines, never a harmless rename."""
    renamed = fleet((P, "node: pve44", "node: pve45"), **{"inventory/pve45.yaml": PVE44.replace("pve44", "pve45")})
    del renamed[N44]
    vm = "12 GiB of memory, 120 GiB of disk on local-lvm, 2 cards"
    assert told(diff(fleet(), renamed)) == [
        (
            "destroy",
            "guest",
            "gpu-pve44",
            f"is destroyed with its data: VM 244 on pve44, {vm}",
            "pve44 is now called pve45; not in `retire`, so OpenTofu's gate will refuse",
        ),
        (
            "replace",
            "guest",
            "infra",
            "is destroyed and created anew: node pve44 → pve45; its data on local-lvm is lost",
            "no plan does that to a container, so OpenTofu's gate will refuse: it takes two merges, out of the fleet "
            "and under `retire` first, then in again",
        ),
        ("move", "role", "embedding", "moves from pve44/1 to pve45/1", "pve44 is gone"),
        ("move", "role", "speech", "moves from pve44 (infra) to pve45 (infra)", "pve44 is gone"),
        ("create", "guest", "gpu-pve45", f"is created: VM 245 on pve45, {vm}", "pve44 is now called pve45"),
    ]


def test_a_node_that_joins_brings_its_vm_with_mappings_and_disabled_cards_in_one_line() -> None:
    assert told(diff(fleet(), two_nodes())) == [
        (
            "create",
            "guest",
            "gpu-pve46",
            "is created: VM 246 on pve46, 12 GiB of memory, 120 GiB of disk on local-lvm, 2 cards",
            "pve46 is new",
        )
    ]


def test_a_kiosk_joins_and_leaves() -> None:
    kiosk = {"inventory/pve61.yaml": PVE44[: PVE44.index("gpus:")].replace("pve44", "pve61") + "gpus: []\n"}
    assert told(diff(fleet(), fleet(**kiosk))) == [("create", "node", "pve61", "joins the Proxmox cluster", "")]
    left = ("update", "node", "pve61", "leaves the Proxmox cluster; it carried no guest", "")
    assert told(diff(fleet(**kiosk), fleet())) == [left]


@pytest.mark.parametrize("state", ["cordoned", "down"])
def test_a_node_that_is_taken_out(state: str) -> None:
    edit = (N44, "name: pve44\n", f'name: pve44\nstate: {state}\nreason: "new fans"\n')
    moved = ("move", "role", "embedding", "moves from pve44/1 to pve46/1", "pve44 is down: new fans")
    assert (moved in told(diff(two_nodes(), two_nodes(edit)))) == (state == "down")


def test_a_card_comes_back() -> None:
    on = (N44, '    disabled: true\n    reason: "no benchmark yet"\n', "")
    assert edited(on) == [("update", "node", "pve44/0", "is enabled: Quadro M4000; gpu-pve44 stays as it is", "")]
    small = (R, "min_vram_gb: 2}", "min_vram_gb: 8}")
    assert told(diff(fleet(small), fleet(small, on)))[:2] == [
        (
            "move",
            "role",
            "embedding",
            "moves from GODE-PC-05/0 to pve44/0",
            "pve44/0 is no longer disabled; a smaller card that fits: 8 GB instead of 20 GB",
        ),
        ("update", "node", "pve44/0", "is enabled: Quadro M4000; gpu-pve44 stays as it is", ""),
    ]
    assert ("create", "role", "general", "gets a place on GODE-PC-05/0", "embedding leaves GODE-PC-05/0") in told(
        diff(fleet(small), fleet(small, on))
    )


def test_a_new_card_in_a_vm_restarts_it() -> None:
    card = (
        "  - index: 2\n    name: Tesla T4\n    memory_gb: 1\n    compute_cap: 7.5\n"
        '    driver: "580.95.05"\n'
        '    pci: {address: "0000:03:00.0", id: "10de:1eb8", subsystem_id: "10de:12a2", iommu_group: 22}\n'
    )
    assert edited((N44, "iommu_group: 21}\n", f"iommu_group: 21}}\n{card}")) == [
        ("restart", "guest", "gpu-pve44", "restarts: cards +gpu-t4-pve44 in hostpci2", ""),
        ("create", "mapping", "gpu-t4-pve44", "is created: 10de:1eb8 at 0000:03:00", ""),
    ]


def test_pci_facts_change_a_mapping_in_place() -> None:
    assert edited((N44, "iommu_group: 21", "iommu_group: 29")) == [
        ("update", "mapping", "gpu-p2000-pve44", "changes in place: iommu_group 21 → 29", "")
    ]


def test_external_endpoints() -> None:
    assert edited((P, "tier0.example.org", "llm.example.org")) == [
        ("update", "external", "tier0", "changes: url https://tier0.example.org/v1 → https://llm.example.org/v1", "")
    ]


def test_a_workstation_with_another_address_answers_elsewhere() -> None:
    assert edited((PC, "100.105", "100.106")) == [
        ("update", "slot", "tier1", "answers at 192.168.100.106:8080 instead of 192.168.100.105:8080", "")
    ]


def test_an_index_that_shifts_keeps_the_card() -> None:
    uuid = (N44, "  - index: 1\n", "  - index: 1\n    uuid: GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b\n")
    found = told(
        diff(
            fleet(uuid),
            fleet((N44, "  - index: 1\n", "  - index: 3\n    uuid: GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b\n")),
        )
    )
    assert found == [("update", "role", "embedding", "keeps its card, which is pve44/3 now", "")]


def test_more_and_fewer_places() -> None:
    more = (R, "    priority: 10\n", "    priority: 10\n    count: 2\n")
    one, two = two_nodes(), two_nodes(more)
    assert told(diff(one, two)) == [("create", "role", "embedding", "also runs on pve46/1", "count 1 → 2")]
    gone = "no longer runs on pve46/1; it keeps pve44/1"
    assert told(diff(two, one)) == [("lose", "role", "embedding", gone, "count 2 → 1")]


def test_comments_quotes_order_and_line_ends_are_no_change() -> None:
    again = {path: f"# a comment\n{text}".replace("\n", "\r\n") for path, text in fleet().items() if path != N44}
    again[N44] = PVE44.replace('"no benchmark yet"', "no benchmark yet").replace("sda", '"sda"')
    assert diff(fleet(), again) == Comparison()


def test_a_side_that_did_not_load_leaves_changes_out_and_says_so() -> None:
    broken = fleet((P, "bridge: vmbr0", "bridge: [vmbr0"))
    for before, after in ((fleet(), broken), (broken, fleet())):
        comparison = compare(evaluate(before), evaluate(after))
        assert (comparison.complete, comparison.changes, dict(comparison.counts)) == (False, (), {})
    forward = compare(evaluate(fleet()), evaluate(broken))
    assert {one.code for one in forward.new} == {"yaml-syntax", "check-skipped"}
    assert forward.fixed == ()


def test_a_diagnostic_that_moved_a_line_is_neither_new_nor_fixed() -> None:
    warned = fleet((N44, "name: pve44\n", "name: pve44\nsource: assumed\n"))
    lower = {**warned, N44: f"# one line more\n{warned[N44]}"}
    assert diff(warned, lower).new == ()
    assert [one.code for one in diff(fleet(), warned).new] == ["assumed"]
    assert [one.code for one in diff(warned, fleet()).fixed] == ["assumed"]


def test_destructive_changes_come_first_and_are_counted() -> None:
    comparison = diff(fleet(), fleet((P, "vmid: 101", "vmid: 111"), (PC, "memory_gb: 20", "memory_gb: 12")))
    assert dict(comparison.counts) == {Effect.REPLACE: 1, Effect.LOSE: 2}
    assert [one.name for one in comparison.destructive] == ["infra", "general", "tier1"]


BROKEN = (P, "bridge: vmbr0", "bridge: [vmbr0")
ASSUMED = (N44, "name: pve44\n", "name: pve44\nsource: assumed\n")
REQUIRED = (R, "  general:\n", "  general:\n    required: true\n    count: 3\n")


def codes(comparison: Comparison) -> tuple[list[str], list[str]]:
    """The codes of new diagnostics and of fixed ones."""
    return [one.code for one in comparison.new], [one.code for one in comparison.fixed]


def test_of_a_base_that_did_not_load_nobody_knows_its_warnings_so_only_errors_are_new() -> None:
    broken, warned = evaluate(fleet(BROKEN)), evaluate(fleet(ASSUMED))
    assert codes(compare(broken, warned)) == ([], ["check-skipped", "yaml-syntax"])
    wrong = evaluate(fleet(ASSUMED, REQUIRED))
    assert wrong.planned is not None
    assert codes(compare(broken, wrong))[0] == ["required-unplaced"]


def test_what_a_head_that_does_not_load_no_longer_shows_is_not_fixed() -> None:
    broken, warned = evaluate(fleet(BROKEN)), evaluate(fleet(ASSUMED))
    assert codes(compare(warned, broken)) == (["check-skipped", "yaml-syntax"], [])
    assert codes(compare(warned, evaluate(fleet()))) == ([], ["assumed"])


def test_between_two_sides_that_did_not_load_what_only_one_shows_is_new_and_nothing_is_fixed() -> None:
    other = (M, "vram_gb: 10.5", "vram_gb: [10.5")
    old, new = evaluate(fleet(BROKEN)), evaluate(fleet(BROKEN, other))
    found, fixed = codes(compare(old, new))
    assert "yaml-syntax" in found
    assert fixed == []
    assert codes(compare(new, old))[1] == []


def test_between_two_sides_that_did_not_load_a_warning_of_one_is_new_as_well() -> None:
    old, new = evaluate(fleet(BROKEN)), evaluate(fleet(BROKEN, ASSUMED))
    assert codes(compare(old, new)) == (["assumed"], [])


def test_a_second_problem_like_the_first_is_another_one() -> None:
    one = Diagnostic("a", "b", Place("f", line=1))
    side = evaluate(fleet())
    before, after = (replace(side, diagnostics=(one,) * number) for number in (1, 2))
    assert (compare(before, after).new, compare(before, after).fixed) == ((one,), ())
    assert (compare(after, before).new, compare(after, before).fixed) == ((), (one,))
    worse = replace(side, diagnostics=(replace(one, severity=Severity.WARNING),))
    assert compare(before, worse).new == worse.diagnostics


def test_of_two_equal_priorities_the_name_decides_and_no_number_is_told() -> None:
    needs = "    priority: 10\n    needs: {engine: llamacpp, min_vram_gb: 2}\n    kinds: [embedding]\n"
    for name, cause in (("audio", "audio takes pve44/1"), ("zoo", None)):
        found = edited((R, "  general:", f"  {name}:\n{needs}  general:"))
        moves = [one[4] for one in found if one[:3] == ("move", "role", "embedding")]
        assert moves == ([cause] if cause else [])


def test_a_role_that_keeps_one_of_its_places_says_why_it_left_the_other() -> None:
    twice = (R, "    priority: 10\n", "    priority: 10\n    count: 2\n")
    off = two_nodes(twice)
    off["inventory/pve46.yaml"] = SECOND.replace("  - index: 1\n", "  - index: 1\n    disabled: true\n")
    off[PC] = PC5.replace("cpu_roles: false", "cpu_roles: false\nstate: down")
    before = {**off, "inventory/pve46.yaml": SECOND}
    (found,) = of(diff(before, off), "embedding")
    assert found[:4] == ("lose", "role", "embedding", "no longer runs on pve46/1; it keeps pve44/1")
    assert found[4].startswith("pve46/1 is disabled; 1 of 2 placed: ")


def test_a_slot_without_a_fallback_says_so() -> None:
    (found,) = of(diff(fleet(), fleet((M, "vram_gb: 1.2", "vram_gb: 30"))), "embed")
    assert found == ("lose", "slot", "embed", "becomes unavailable; it has no fallback", "bge-m3 no longer fits")


def test_a_model_that_was_named_before_is_no_cause() -> None:
    named = (R, "{name: tier1, fallback", "{name: tier1, model: qwen3-14b, fallback")
    grown = (M, "vram_gb: 10.5", "vram_gb: 25")
    (found,) = of(diff(fleet(named, grown), fleet(named)), "tier1")
    assert found[0:2] == ("create", "slot")
    assert found[4] == ""


def test_a_role_that_never_had_a_place_is_only_recorded() -> None:
    huge = (R, "  general:", "  huge:\n    needs: {engine: llamacpp, min_vram_gb: 99}\n    kinds: [llm]\n  general:")
    (come,) = of(diff(fleet(), fleet(huge)), "huge")
    assert come[:4] == ("record", "role", "huge", "is new and has no place")
    assert come[4].startswith("0/3 GPUs fit: ")
    (gone,) = of(diff(fleet(huge), fleet()), "huge")
    assert gone[:4] == ("record", "role", "huge", "is removed; it had no place")
