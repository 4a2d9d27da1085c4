terraform {
  required_version = ">= 1.9.0"

  required_providers {
    proxmox = {
      source  = "bpg/proxmox"
      version = "0.111.1"
    }
  }

  # Outside of generated/, which `knaster render` replaces as a whole. Elsewhere: tofu init -backend-config=path=FILE
  backend "local" {
    path = "../../.tofu/terraform.tfstate"
  }
}

# Address and credentials come from the environment: PROXMOX_VE_ENDPOINT, PROXMOX_VE_API_TOKEN.
provider "proxmox" {}
