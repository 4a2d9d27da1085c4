# One VM per node with all of its cards. Every default that matters is written out: what is left out the provider fills
# with values that differ from what Proxmox reads back, or that kill the guest.
resource "proxmox_virtual_environment_vm" "gpu" {
  for_each = var.vms

  vm_id     = each.value.vmid
  name      = each.key
  node_name = each.value.node
  tags      = each.value.tags

  machine       = "q35"
  bios          = "ovmf"
  acpi          = true
  scsi_hardware = "virtio-scsi-single"
  boot_order    = ["scsi0"]
  tablet_device = false

  on_boot                              = true
  started                              = true
  protection                           = false
  template                             = false
  migrate                              = false
  reboot                               = false
  reboot_after_update                  = true
  stop_on_destroy                      = false
  purge_on_destroy                     = true
  delete_unreferenced_disks_on_destroy = false

  # The default type has no AVX: inference images die with SIGILL.
  cpu {
    type    = "host"
    sockets = 1
    cores   = each.value.cores
    numa    = false
  }

  # Passthrough pins all of it at start, so ballooning is off.
  memory {
    dedicated = each.value.memory_mib
    floating  = 0
    shared    = 0
  }

  # Off: the cloud image has no agent, and the provider would wait a quarter of an hour for it at every refresh.
  agent {
    enabled = false
    trim    = false
    type    = "virtio"
  }

  operating_system {
    type = "l26"
  }

  serial_device {
    device = "socket"
  }

  efi_disk {
    datastore_id      = each.value.storage
    file_format       = "raw"
    type              = "4m"
    pre_enrolled_keys = false
  }

  disk {
    interface    = "scsi0"
    datastore_id = each.value.storage
    size         = each.value.disk_gib
    import_from  = proxmox_download_file.image[each.value.node].id
    file_format  = "raw"
    aio          = "io_uring"
    cache        = "none"
    discard      = "on"
    iothread     = true
    ssd          = true
    backup       = true
    replicate    = false
  }

  # A list in the order of slots: sorted by slot is how Proxmox reads it back.
  dynamic "hostpci" {
    for_each = each.value.hostpci

    content {
      device  = hostpci.value.device
      mapping = proxmox_hardware_mapping_pci.card[hostpci.value.mapping].name
      pcie    = hostpci.value.pcie
      rombar  = hostpci.value.rombar
      xvga    = hostpci.value.xvga
    }
  }

  network_device {
    bridge   = each.value.bridge
    model    = "virtio"
    firewall = false
  }

  initialization {
    datastore_id = each.value.storage
    interface    = "ide2"

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

    user_account {
      username = each.value.user
      keys     = each.value.ssh_keys
    }
  }

  lifecycle {
    # The first two are read once, when the VM is made. A later key is Ansible's: through cloud-init it would reboot the
    # VM. The notes are people's.
    ignore_changes = [disk[0].import_from, initialization[0].user_account, description]
  }
}
