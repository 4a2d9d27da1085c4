# One mapping per card, twins too: of one mapping with two entries Proxmox hands out whichever is free.
# Keyed by name, because the provider cannot rename a mapping.
resource "proxmox_hardware_mapping_pci" "card" {
  for_each = var.mappings

  name             = each.key
  comment          = each.value.comment == "" ? null : each.value.comment
  mediated_devices = false

  map = [{
    node         = each.value.node
    id           = each.value.id
    subsystem_id = each.value.subsystem_id
    path         = each.value.path
    iommu_group  = each.value.iommu_group
  }]

  lifecycle {
    # A card that goes: first the VM lets go of it, then the mapping.
    create_before_destroy = true
  }
}
