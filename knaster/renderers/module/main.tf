# The fleet itself. What only a root module may have (state, credentials, adoption) is here, so that another root module
# can call ./fleet with the variables of knaster.auto.tfvars.json.
module "fleet" {
  source = "./fleet"

  nodes      = var.nodes
  mappings   = var.mappings
  vms        = var.vms
  containers = var.containers
}

# Guests that were there before: adopted at the first apply, and nothing from then on.
import {
  for_each = { for name, guest in var.vms : name => guest if guest.exists }
  to       = module.fleet.proxmox_virtual_environment_vm.gpu[each.key]
  id       = "${each.value.node}/${each.value.vmid}"
}

import {
  for_each = { for name, guest in var.containers : name => guest if guest.exists && !guest.replicates }
  to       = module.fleet.proxmox_virtual_environment_container.fixed[each.key]
  id       = "${each.value.node}/${each.value.vmid}"
}

import {
  for_each = { for name, guest in var.containers : name => guest if guest.exists && guest.replicates }
  to       = module.fleet.proxmox_virtual_environment_container.replicated[each.key]
  id       = "${each.value.node}/${each.value.vmid}"
}

# Which files this plan was made from: `knaster tofu gate` compares them with generated/manifest.json.
output "generation" {
  description = "SHA-256 of each file of this module, by path relative to it."
  value = merge([
    for folder in ["", "fleet/"] : {
      for file in fileset("${path.module}/${folder}", "*.{tf,tf.json,tofu,tofu.json,tfvars,tfvars.json}") :
      "${folder}${file}" => filesha256("${path.module}/${folder}${file}")
    }
  ]...)
}
