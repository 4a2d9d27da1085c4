# Containers hold what cannot be made again (databases, the state of OpenTofu): none is destroyed by a plan.
# One that is given up is named under `retire`, and then moves to "retired" (moved.tf.json), which has no such guard.
resource "proxmox_virtual_environment_container" "fixed" {
  for_each = { for name, guest in var.containers : name => guest if !guest.replicates }

  vm_id         = each.value.vmid
  node_name     = each.value.node
  tags          = each.value.tags
  unprivileged  = each.value.unprivileged
  protection    = false
  template      = false
  start_on_boot = true
  started       = true

  cpu {
    cores = each.value.cores
  }

  memory {
    dedicated = each.value.memory_mib
    swap      = 0
  }

  # No mount points: the provider replaces a container whose mount points change. Docker's data lies in the root disk.
  disk {
    datastore_id = each.value.storage
    size         = each.value.disk_gib
    replicate    = true
  }

  # All that an API token may set. Docker wants keyctl too, which Ansible sets as root on the node.
  features {
    nesting = true
  }

  network_interface {
    name     = "eth0"
    bridge   = each.value.bridge
    enabled  = true
    firewall = false
  }

  initialization {
    hostname = each.key

    ip_config {
      ipv4 {
        address = each.value.address
        gateway = each.value.gateway
      }
    }

    dynamic "dns" {
      for_each = length(each.value.dns) > 0 ? [each.value.dns] : []

      content {
        servers = dns.value
      }
    }

    dynamic "user_account" {
      for_each = length(each.value.ssh_keys) > 0 ? [each.value.ssh_keys] : []

      content {
        keys = user_account.value
      }
    }
  }

  operating_system {
    template_file_id = each.value.template
    type             = each.value.os_type
  }

  lifecycle {
    prevent_destroy = true

    # Read once, when the container is made, or set by Ansible; to the provider a change would mean a new container.
    # The others are people's: notes, and what the provider cannot take out without a new container or ssh.
    ignore_changes = [
      operating_system, initialization[0].user_account, features, mount_point, device_passthrough, idmap, description,
    ]
  }
}
