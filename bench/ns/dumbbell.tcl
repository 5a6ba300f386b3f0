# A dumbbell in ns-2, for comparison with `trunkline simulate --compat ns2`.
#
#   sender --- left === bottleneck === right --- receiver      (streams)
#   sender ---/                          \--- receiver         (cross traffic, a pair of its own)
#
# ns dumbbell.tcl NAME VALUE ...     prints one line of JSON
#
# Rates in bit/s, times in seconds, sizes in bytes unless the name says packets. Counts are from the
# end of the warm-up; what a whole run adds up to is named so.

array set ask {
  streams 1         window_packets 100   payload 1460
  rate 100e6        rtt 0.04             queue_packets 100   loss 0
  cross 0           cross_window_packets 44
  duration 100      warmup 20            transfer 0          start_within 1
  jitter 0          seed 1               monitor 1           variant sack
  queue DropTail    ecn 0                min 50              max 150
  probability 0.1   weight 0.002         gentle 1            wait 0
}
foreach {name value} $argv {
  if {![info exists ask($name)]} { puts stderr "no setting is called $name"; exit 2 }
  set ask($name) $value
}

# Headers of protocols that do not occur would be carried, and cleared, in every packet.
remove-all-packet-headers
add-packet-header IP TCP Flags
if {$ask(loss) > 0} { add-packet-header RTP }

set ns [new Simulator]
$ns use-scheduler Calendar
$defaultRNG seed $ask(seed)

# --- TCP ----------------------------------------------------------------------------------------
foreach {name value} [list \
  packetSize_ $ask(payload)  useHeaders_ true         tcpip_base_hdr_size_ 40 \
  tcpTick_ 0.001             rtxcur_init_ 1.0         minrto_ 0.2               maxrto_ 60 \
  windowInitOption_ 1        windowInit_ 2            windowOption_ 1           maxcwnd_ 0 \
  maxburst_ 0                overhead_ $ask(jitter)   slow_start_restart_ true  ecn_ $ask(ecn) \
  numdupacks_ 3              singledup_ 1             timestamps_ false \
  bugFix_ true               bugFix_ack_ true         bugFix_ts_ false \
] { Agent/TCP set $name $value }
Agent/TCPSink set packetSize_ 40
Agent/TCPSink set maxSackBlocks_ 3
Agent/TCPSink/Sack1/DelAck set interval_ 100ms
Agent/TCPSink/DelAck set interval_ 100ms

# --- Links --------------------------------------------------------------------------------------
set access_rate [expr {10.0 * $ask(rate)}]
set access_delay 0.001

# RED as in the paper: packets count, not bytes; drops are spread over the next 1/p arrivals; the
# mean size is the one of full packets. ns-2's own settings are wait_, bytes_ and 500 bytes.
foreach {name value} [list \
  thresh_ $ask(min)   maxthresh_ $ask(max)   linterm_ [expr {1.0 / $ask(probability)}] \
  q_weight_ $ask(weight)   gentle_ $ask(gentle)   wait_ $ask(wait)   setbit_ $ask(ecn) \
  bytes_ false   queue_in_bytes_ false   mean_pktsize_ [expr {$ask(payload) + 40}] \
  use_mark_p_ true   mark_p_ $ask(probability) \
] { Queue/RED set $name $value }

proc one_way {from to rate delay packets} {
  global ns
  $ns simplex-link $from $to $rate $delay DropTail
  $ns queue-limit $from $to $packets
}

proc both_ways {a b rate delay packets} {
  one_way $a $b $rate $delay $packets
  one_way $b $a $rate $delay $packets
}

proc host_pair {} {
  global ns left right access_rate access_delay
  set sender [$ns node]
  set receiver [$ns node]
  both_ways $sender $left $access_rate $access_delay 1000000
  both_ways $right $receiver $access_rate $access_delay 1000000
  return [list $sender $receiver]
}

set left [$ns node]
set right [$ns node]
set bottleneck_delay [expr {$ask(rtt) / 2.0 - 2 * $access_delay}]
both_ways $left $right $ask(rate) $bottleneck_delay $ask(queue_packets)
if {$ask(queue) ne "DropTail"} {
  $ns simplex-link $left $right $ask(rate) $bottleneck_delay $ask(queue)
  $ns queue-limit $left $right $ask(queue_packets)
}
set hosts [host_pair]
if {$ask(cross) > 0} { set cross_hosts [host_pair] }

# Lost packets have used the link: the loss comes after the queue.
if {$ask(loss) > 0} {
  set dice [new RandomVariable/Uniform]
  set dice_source [new RNG]
  $dice_source seed [expr {$ask(seed) + 17}]
  $dice use-rng $dice_source
  set eraser [new ErrorModel/Uniform $ask(loss) pkt]
  $eraser ranvar $dice
  $ns link-lossmodel $eraser $left $right
  set graveyard [new Agent/LossMonitor]
  $ns attach-agent $right $graveyard
  $eraser drop-target $graveyard
}
if {$ask(monitor)} {
  set meter [$ns monitor-queue $left $right [open /dev/null w] 1e9]
  $meter get-bytes-integrator
  set waiting [$meter get-pkts-integrator]
}

# --- Streams ------------------------------------------------------------------------------------
# Park and Miller's generator, so that another simulator can draw the same start times.
set park_miller $ask(seed)
proc uniform {} {
  global park_miller
  set park_miller [expr {16807 * $park_miller % 2147483647}]
  return [expr {$park_miller / 2147483647.0}]
}

array set agent_of { sack Agent/TCP/Sack1  newreno Agent/TCP/Newreno  reno Agent/TCP/Reno }
array set sink_of { sack Agent/TCPSink/Sack1/DelAck  newreno Agent/TCPSink/DelAck  reno Agent/TCPSink/DelAck }

# The sender's agent, with a source of data on top.
proc stream {hosts number window} {
  global ns
  global agent_of sink_of ask
  set agent [new $agent_of($ask(variant))]
  set sink [new $sink_of($ask(variant))]
  $agent set window_ $window
  $agent set fid_ $number
  $ns attach-agent [lindex $hosts 0] $agent
  $ns attach-agent [lindex $hosts 1] $sink
  $ns connect $agent $sink
  set source [new Application/FTP]
  $source attach-agent $agent
  return [list $agent $source]
}

set packets_in_all [expr {int(ceil(double($ask(transfer)) / $ask(payload)))}]
proc share {number} {
  global ask packets_in_all
  set packets [expr {$packets_in_all / $ask(streams)}]
  if {$number < $packets_in_all % $ask(streams)} { incr packets }
  return [expr {$packets * $ask(payload)}]
}

set agents {}
set cross_agents {}
for {set number 0} {$number < $ask(streams)} {incr number} {
  lassign [stream $hosts $number $ask(window_packets)] agent source
  set start [expr {$ask(start_within) * [uniform]}]
  if {$ask(transfer) > 0} {
    $ns at $start "$source send [share $number]"
  } else {
    $ns at $start "$source start"
  }
  lappend agents $agent
}
for {set number 0} {$number < $ask(cross)} {incr number} {
  lassign [stream $cross_hosts [expr {$ask(streams) + $number}] $ask(cross_window_packets)] agent source
  $ns at [uniform] "$source start"
  lappend cross_agents $agent
}

set completed {}
Agent/TCP instproc done {} {
  global ns ask completed
  if {$ask(transfer) <= 0} return
  lappend completed [$ns now]
  if {[llength $completed] == $ask(streams)} report
}

# --- Results ------------------------------------------------------------------------------------
proc sum {values} { return [tcl::mathop::+ 0.0 {*}$values] }

proc values_of {agents variable} {
  set values {}
  foreach agent $agents { lappend values [$agent set $variable] }
  return $values
}

# What has been counted so far.
proc counts {} {
  global ns ask agents cross_agents graveyard meter waiting
  set now [dict create time [$ns now] \
    acknowledged [values_of $agents ack_] \
    cross_acknowledged [values_of $cross_agents ack_] \
    sent [sum [values_of $agents ndatapack_]] \
    resent [sum [values_of $agents nrexmitpack_]] \
    timeouts [sum [values_of $agents nrexmit_]] \
    wire_losses [expr {$ask(loss) > 0 ? [$graveyard set npkts_] : 0}]]
  if {$ask(monitor)} {
    $waiting newpoint [$ns now] [$waiting set lasty_]
    dict set now queue_drops [$meter set pdrops_]
    dict set now bytes_out [$meter set bdepartures_]
    dict set now packet_seconds [$waiting set sum_]
  }
  return $now
}

proc nothing {} {
  global agents cross_agents
  set zero [dict create time 0 acknowledged [lrepeat [llength $agents] 0] \
    cross_acknowledged [lrepeat [llength $cross_agents] 0]]
  foreach key {sent resent timeouts wire_losses queue_drops bytes_out packet_seconds} { dict set zero $key 0 }
  return $zero
}

proc goodputs {before after key seconds} {
  global ask
  set rates {}
  foreach old [dict get $before $key] new [dict get $after $key] {
    lappend rates [expr {($new - $old) * $ask(payload) * 8.0 / $seconds / 1e6}]
  }
  return $rates
}

proc jain {rates} {
  set squares {}
  foreach rate $rates { lappend squares [expr {$rate * $rate}] }
  set divisor [expr {[llength $rates] * [sum $squares]}]
  return [expr {$divisor > 0 ? [sum $rates] ** 2 / $divisor : 1.0}]
}

proc report {} {
  global ask agents cross_agents before completed
  set after [counts]
  set seconds [expr {[dict get $after time] - [dict get $before time]}]
  set rates [goodputs $before $after acknowledged $seconds]
  set lines [dict create \
    seconds [dict get $after time] \
    goodput_mbps [sum $rates] \
    cross_mbps [sum [goodputs $before $after cross_acknowledged $seconds]] \
    jain [jain $rates] \
    data_packets_whole_run [expr {[dict get $after sent] + [sum [values_of $cross_agents ndatapack_]]}]]
  foreach key {sent resent timeouts wire_losses} {
    dict set lines $key [expr {[dict get $after $key] - [dict get $before $key]}]
  }
  if {$ask(monitor)} {
    dict set lines queue_drops [expr {[dict get $after queue_drops] - [dict get $before queue_drops]}]
    # ns-2 counts bytes in 32 bits; a longer or faster run has wrapped.
    if {$ask(rate) * $ask(duration) / 8 < 2**31} {
      dict set lines utilisation \
        [expr {([dict get $after bytes_out] - [dict get $before bytes_out]) * 8.0 / $seconds / $ask(rate)}]
    }
    dict set lines mean_queue_packets \
      [expr {([dict get $after packet_seconds] - [dict get $before packet_seconds]) / $seconds}]
  }
  if {$ask(transfer) > 0} {
    dict set lines completed_streams [llength $completed]
    if {[llength $completed] == $ask(streams)} { dict set lines completion_seconds [lindex $completed end] }
  }
  set fields {}
  dict for {key value} $lines { lappend fields "\"$key\": $value" }
  puts "{[join $fields {, }]}"
  exit 0
}

set before [nothing]
if {$ask(transfer) <= 0 && $ask(warmup) > 0} { $ns at $ask(warmup) "set before \[counts\]" }
$ns at $ask(duration) report
$ns run
