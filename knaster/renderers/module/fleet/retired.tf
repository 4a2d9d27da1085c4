# Always empty: a container that moves here is destroyed. Only moved.tf.json moves one, for names under `retire`.
resource "proxmox_virtual_environment_container" "retired" {
  for_each  = {}
  node_name = each.value
}
