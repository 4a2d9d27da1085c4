variable "nodes" {
  description = "Names of the Proxmox nodes."
  type        = set(string)
  nullable    = false

  validation {
    condition     = !contains([for node in var.nodes : node == null], true)
    error_message = "A node's name is missing."
  }
}

variable "mappings" {
  description = "Resource mappings of the cards, by name. Proxmox compares all ids with sysfs at every start of a VM."
  type = map(object({
    node         = string
    comment      = optional(string, "")
    id           = string
    subsystem_id = string
    path         = string
    iommu_group  = number
  }))
  nullable = false

  validation {
    condition     = try(alltrue(flatten([for card in var.mappings : [for value in card : value != null]])), false)
    error_message = "Every attribute of a mapping needs a value: with one missing the VM would not start."
  }

  validation {
    condition = try(alltrue([
      for card in var.mappings : alltrue([
        for id in [card.id, card.subsystem_id] : can(regex("^[0-9a-f]{4}:[0-9a-f]{4}$", id))
      ])
    ]), false)
    error_message = "PCI ids are four lower-case hex digits, a colon and four more: Proxmox compares them as text."
  }

  validation {
    condition     = try(alltrue([for card in var.mappings : contains(var.nodes, card.node)]), false)
    error_message = "A mapping names a node that is not among the nodes."
  }
}

variable "vms" {
  description = "GPU VMs by name. `exists`: there before, to be adopted."
  type = map(object({
    node       = string
    vmid       = number
    address    = string
    gateway    = string
    bridge     = string
    dns        = optional(list(string), [])
    user       = string
    ssh_keys   = optional(list(string), [])
    memory_mib = number
    cores      = number
    disk_gib   = number
    storage    = string
    image = object({
      url                = string
      checksum           = string
      checksum_algorithm = optional(string, "sha256")
      storage            = optional(string, "local")
    })
    hostpci = list(object({
      device  = string
      mapping = string
      pcie    = optional(bool, true)
      rombar  = optional(bool, true)
      xvga    = optional(bool, false)
    }))
    exists = optional(bool, false)
    tags   = optional(list(string), [])
  }))
  nullable = false

  validation {
    condition = try(alltrue(flatten([
      for vm in var.vms : [
        [for value in vm : value != null],
        [for value in vm.image : value != null],
        [for card in vm.hostpci : [for value in card : value != null]],
      ]
    ])), false)
    error_message = "Every attribute of a VM needs a value."
  }

  validation {
    condition     = try(alltrue([for vm in var.vms : contains(var.nodes, vm.node)]), false)
    error_message = "A VM names a node that is not among the nodes."
  }

  validation {
    condition = try(alltrue(flatten([
      for vm in var.vms : [
        for card in vm.hostpci : try(var.mappings[card.mapping].node == vm.node, false)
      ]
    ])), false)
    error_message = "A VM names a resource mapping that does not exist, or that is of another node."
  }

  validation {
    condition = try(alltrue(flatten([
      for vm in var.vms : [
        for at, card in vm.hostpci : at == 0 ? true : (
          tonumber(trimprefix(card.device, "hostpci")) > tonumber(trimprefix(vm.hostpci[at - 1].device, "hostpci"))
        )
      ]
    ])), false)
    error_message = "The cards of a VM stand in the order of their slots: Proxmox reads them back so."
  }
}

variable "containers" {
  description = "Containers (LXC) by name. `exists`: there before, to be adopted. `replicates`: may run on another node."
  type = map(object({
    node         = string
    vmid         = number
    address      = string
    gateway      = string
    bridge       = string
    dns          = optional(list(string), [])
    ssh_keys     = optional(list(string), [])
    memory_mib   = number
    cores        = number
    disk_gib     = number
    storage      = string
    template     = string
    os_type      = optional(string, "unmanaged")
    unprivileged = optional(bool, true)
    exists       = optional(bool, false)
    replicates   = optional(bool, false)
    tags         = optional(list(string), [])
  }))
  nullable = false

  validation {
    condition     = length(var.nodes) == 0 || length(var.vms) + length(var.containers) > 0
    error_message = "There are Proxmox nodes but no guests: that would destroy every guest."
  }

  validation {
    condition = try(alltrue(flatten([
      for guest in var.containers : [for value in guest : value != null]
    ])), false)
    error_message = "Every attribute of a container needs a value."
  }

  validation {
    condition     = try(alltrue([for guest in var.containers : contains(var.nodes, guest.node)]), false)
    error_message = "A container names a node that is not among the nodes."
  }

  validation {
    condition = (
      length(distinct(concat(values(var.vms)[*].vmid, values(var.containers)[*].vmid)))
      == length(var.vms) + length(var.containers)
    )
    error_message = "Two guests have one VM id."
  }
}
