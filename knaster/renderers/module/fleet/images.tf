locals {
  # One file per node that has VMs.
  images = {
    for node in distinct(values(var.vms)[*].node) :
    node => [for vm in values(var.vms) : vm.image if vm.node == node][0]
  }
}

# A new image never touches a VM that exists: it is read once, when the VM is made.
resource "proxmox_download_file" "image" {
  for_each = local.images

  node_name          = each.key
  datastore_id       = each.value.storage
  content_type       = "import"
  url                = each.value.url
  checksum           = each.value.checksum
  checksum_algorithm = each.value.checksum_algorithm
  verify             = true

  # Proxmox imports by suffix, and knows none that is .img. The checksum keeps images apart that have one name.
  file_name = format(
    "knaster-%s.%s",
    substr(each.value.checksum, 0, 12),
    try(regex("\\.(qcow2|raw|vmdk)$", each.value.url)[0], "qcow2"),
  )

  # Else every plan asks the server for the size, and replaces the file when it differs.
  overwrite           = false
  overwrite_unmanaged = false
}
