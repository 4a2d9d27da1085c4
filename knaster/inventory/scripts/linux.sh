#!/bin/sh
# Prints what knaster reads off a Linux or Proxmox machine, on standard output. Reads only: needs no root, changes
# nothing, leaves no file behind, asks nothing. POSIX sh (dash, bash, busybox ash).
#   sh linux.sh > NAME.capture       then, elsewhere: knaster inventory collect --from DIR
# As root on a Proxmox host pvesh answers too; everything else is the same for any user.

main() {
  set -u
  LC_ALL=C
  PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  PATH="$PATH:/opt/rocm/bin:/usr/lib/wsl/lib:/run/current-system/sw/bin"
  export LC_ALL PATH
  unset LANGUAGE COLUMNS
  newline='
'
  return_sign=$(printf '\r')
  node=$(uname -n)
  node=${node%%.*}

  printf '#knaster-capture 1\n'
  section os echo linux
  section hostname uname -n
  section address address
  section container container
  section meminfo cat /proc/meminfo
  section memory-limit memory_limit
  section memory-blocks memory_blocks
  section cpuinfo cat /proc/cpuinfo
  section lscpu processors
  section lsblk tool lsblk -J -b -d -o NAME,SIZE,ROTA,TYPE,TRAN,MODEL,SERIAL,WWN,RM
  [ "$status" = 0 ] || section sysfs-block block_devices
  section lspci tool lspci -Dvmmnnk
  section sysfs-pci pci_devices
  section iommu-groups groups_of_iommu
  nvidia
  section amd-smi tool amd-smi static --asic --board --vram --bus --json
  section rocm-smi tool rocm-smi --showproductname --showmeminfo vram --showbus --json
  section xpu-smi tool xpu-smi discovery -j
  section pve-status tool pvesh get "/nodes/$node/status" --output-format json
  section pve-pci tool pvesh get "/nodes/$node/hardware/pci" --output-format json
  printf '#end\n'
}

# section NAME COMMAND...: runs the command and prints its output, every line with a | before it, and its own status.
# The command may die, hang for good, or leave children that hold its output open: nobody waits for it, and the relay
# that does the waiting ends after 25 seconds.
section() {
  name=$1
  shift
  text=$({ { "$@" </dev/null 2>/dev/null; printf '\n#status %s' "$?"; } & } | relay)
  case $text in
    *"$newline#status "*) status=${text##*"$newline#status "} text=${text%"$newline#status "*} ;;
    "#status "*) status=${text#"#status "} text= ;;
    *) status=124 ;;
  esac
  case $status in '' | *[!0-9]*) status=124 ;; esac
  printf '#source %s status=%s\n' "$name" "$status"
  text=${text%"$newline"}
  [ -z "$text" ] || printf '%s\n' "$text" | sed "s/$return_sign\$//; s/$return_sign/ /g; s/^/|/"
}

# tool COMMAND...: 127 where there is no such program; at most 20 seconds.
tool() {
  command -v "$1" >/dev/null 2>&1 || return 127
  limit 20 "$@"
}

# limit SECONDS COMMAND...: kills the command when the time is over; without timeout(1) the shell itself watches.
if timeout -k 2 5 true </dev/null >/dev/null 2>&1; then
  limit() { timeout -k 2 "$@"; }
  relay() { timeout 25 cat; }
else
  limit() {
    seconds=$1
    shift
    "$@" </dev/null &
    job=$!
    (
      trap 'kill "$nap"; exit' TERM
      sleep "$seconds" &
      nap=$!
      wait "$nap"
      kill -9 "$job"
    ) </dev/null >/dev/null 2>&1 &
    watch=$!
    wait "$job"
    set -- "$?"
    kill "$watch" 2>/dev/null
    return "$1"
  }
  relay() {
    self=$(exec sh -c 'echo "$PPID"')
    (
      seconds=25
      while [ "$seconds" -gt 0 ] && kill -0 "$self"; do sleep 1; seconds=$((seconds - 1)); done
      kill -9 "$self"
    ) </dev/null >/dev/null 2>&1 &
    exec cat
  }
fi

address() {
  tool ip -4 route get 192.0.2.1 || tool ip -4 -o addr show scope global || tool hostname -I || tool hostname -i
}

container() {
  kind=$(tool systemd-detect-virt -c) && echo "$kind" && return 0
  cat /run/systemd/container 2>/dev/null && return 0
  [ -e /.dockerenv ] && echo docker && return 0
  [ -e /run/.containerenv ] && echo podman && return 0
  grep -q '^lxcfs /proc' /proc/mounts && echo lxc && return 0
  grep -q -E 'docker|kubepods|lxc' /proc/1/cgroup && echo container
}

memory_limit() {
  cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes
}

# What is installed, in blocks of the kernel; without lsmem their size (hexadecimal) and how many are online.
memory_blocks() {
  tool lsmem -b --summary=only && return 0
  blocks=/sys/devices/system/memory
  size=$(cat "$blocks/block_size_bytes") || return 1
  printf 'block_size_bytes:%s\nonline_blocks:%s\n' "$size" "$(cat "$blocks"/memory*/state | grep -c '^online')"
}

processors() {
  tool lscpu -J || tool lscpu
}

# What lsblk would say, for systems without it or with one that knows no JSON.
block_devices() {
  comma=
  printf '{"blockdevices": ['
  for disk in /sys/block/*; do
    sectors=$(cat "$disk/size") || continue
    spins=$(cat "$disk/queue/rotational") || spins=null
    printf '%s\n{"name":"%s","size":%s,"rota":%s}' "$comma" "${disk##*/}" "$((sectors * 512))" "$spins"
    comma=,
  done
  printf '\n]}\n'
  [ -d /sys/block ]
}

# Display devices (class 03) and processing accelerators (class 12); and the first device of any class, as a proof that
# the bus can be read where it has none of them.
pci_devices() {
  shown=
  for device in /sys/bus/pci/devices/*; do
    case $(cat "$device/class") in 0x03* | 0x12*) ;; *) [ -z "$shown" ] || continue ;; esac
    shown=yes
    for fact in vendor device class subsystem_vendor subsystem_device numa_node mem_info_vram_total; do
      value=$(cat "$device/$fact") && printf '%s/%s:%s\n' "$device" "$fact" "$value"
    done
    for link in driver iommu_group physfn; do
      value=$(readlink "$device/$link") && printf '%s/%s -> %s\n' "$device" "$link" "$value"
    done
  done
  [ -d /sys/bus ]
}

groups_of_iommu() {
  for member in /sys/kernel/iommu_groups/*/devices/*; do
    [ -e "$member" ] && printf '%s\n' "$member"
  done
  [ -d /sys/kernel/iommu_groups ]
}

# One lost card hides the rows of all: then every card that nvidia-smi still lists is asked by itself.
nvidia() {
  fields=index,name,memory.total,compute_cap,driver_version
  query nvidia-smi "$fields"
  if [ "$status" = 2 ]; then
    fields=index,name,memory.total,driver_version
    query nvidia-smi-4 "$fields"
  fi
  case $status in 2 | 6 | 9 | 12 | 17 | 18 | 124 | 126 | 127 | 137) return ;; esac
  failed=$status
  section nvidia-smi-list tool nvidia-smi -L
  cards=$(printf '%s\n' "$text" | sed -n 's/^GPU \([0-9][0-9]*\):.*/\1/p')
  case $failed in
    0 | 14) query nvidia-smi-identity index,uuid,pci.bus_id ;;
    *)
      for card in $cards; do query "nvidia-smi-gpu-$card" "$fields" -i "$card"; done
      [ -z "$cards" ] || query nvidia-smi-identity index,uuid,pci.bus_id -i "$(echo "$cards" | tr '\n' ',' | sed 's/,$//')"
      ;;
  esac
}

# query SECTION FIELDS [OPTION...]
query() {
  where=$1 what=$2
  shift 2
  section "$where" tool nvidia-smi "--query-gpu=$what" --format=csv,noheader,nounits "$@"
}

main
