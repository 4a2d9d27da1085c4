# Containers that replicate may run elsewhere after a failover: there they stay. Otherwise as in containers.tf.
resource "proxmox_virtual_environment_container" "replicated" {
  for_each = { for name, guest in var.containers : name => guest if guest.replicates }

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
    ignore_changes = [
      operating_system, initialization[0].user_account, features, mount_point, device_passthrough, idmap, description,
      node_name,
    ]
  }
}
