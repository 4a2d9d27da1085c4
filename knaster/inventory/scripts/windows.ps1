# Prints what knaster reads off a Windows machine (PowerShell 5.1 and 7). Reads only, needs no administrator.
#   powershell -NoProfile -NonInteractive -ExecutionPolicy Bypass -File windows.ps1 > NAME.capture
# then, elsewhere: knaster inventory collect --from DIR
[Console]::OutputEncoding = [Text.Encoding]::UTF8
$env:Path += ";$env:ProgramFiles\NVIDIA Corporation\NVSMI"

function Section([string]$Name, [scriptblock]$Read) {
    $global:LASTEXITCODE = 0
    try { $text = @(& $Read) -join "`n"; $status = $global:LASTEXITCODE } catch { $text = ''; $status = 127 }
    "#source $Name status=$status"
    if ($text) { $text -split "`r`n|`r|`n" | ForEach-Object { "|$_" } }
}
function Cim([string]$Class, [object[]]$Property) {
    $found = @(Get-CimInstance $Class -OperationTimeoutSec 20 -ErrorAction Stop | Select-Object $Property)
    ConvertTo-Json -Compress -InputObject $found
}
function Query([string]$Fields) { nvidia-smi.exe "--query-gpu=$Fields" '--format=csv,noheader,nounits' @args }

'#knaster-capture 1'
Section os { 'windows' }
Section hostname { [Net.Dns]::GetHostName() }
Section address {
    $socket = New-Object Net.Sockets.UdpClient('192.0.2.1', 9)
    $socket.Client.LocalEndPoint.Address.IPAddressToString
}
Section cim-processor { Cim Win32_Processor Name, NumberOfCores, NumberOfLogicalProcessors }
Section cim-computersystem { Cim Win32_ComputerSystem TotalPhysicalMemory }
Section cim-memory { Cim Win32_PhysicalMemory Capacity }
Section disks {
    $disks = @(Get-PhysicalDisk -ErrorAction Stop | Select-Object DeviceId, FriendlyName, MediaType, BusType, Size)
    ConvertTo-Json -Compress -InputObject $disks
}
Section video {
    $place = @{ n = 'LocationInformation'; e = {
        (Get-ItemProperty "HKLM:\SYSTEM\CurrentControlSet\Enum\$($_.PNPDeviceID)").LocationInformation } }
    Cim Win32_VideoController Name, PNPDeviceID, DriverVersion, $place
}

$fields = 'index,name,memory.total,compute_cap,driver_version'
Section nvidia-smi { Query $fields }
if ($LASTEXITCODE -eq 2) { $fields = 'index,name,memory.total,driver_version'; Section nvidia-smi-4 { Query $fields } }
if ($LASTEXITCODE -in 15, 255, -1) {
    $cards = @(nvidia-smi.exe -L | Select-String '^GPU (\d+):' | ForEach-Object { $_.Matches[0].Groups[1].Value })
    foreach ($card in $cards) { Section "nvidia-smi-gpu-$card" { Query $fields -i $card } }
}
Section nvidia-smi-list { nvidia-smi.exe -L }
Section nvidia-smi-identity { Query 'index,uuid,pci.bus_id' }
'#end'
