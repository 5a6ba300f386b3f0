// Streams over a dumbbell in ns-3, the twin of dumbbell.tcl: what a data packet costs there, and what
// queues that manage themselves do.
//
//   bulk --streams=100 --window_packets=1000 --rate=1e9 --rtt=0.05 --queue_packets=1000 --duration=6 --seed=1
//
// Prints one line of JSON.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

struct Settings
{
    uint32_t streams = 1;
    uint32_t windowPackets = 100;
    uint32_t queuePackets = 100;
    double rate = 100e6;
    double rtt = 0.04;
    double duration = 100;
    double warmup = 0;
    uint32_t seed = 1;
    std::string variant = "newreno";
    // DropTail, RED or CoDel; the settings of RED are ns-2's.
    std::string queue = "DropTail";
    bool ecn = false;
    uint32_t min = 50;
    uint32_t max = 150;
    double probability = 0.1;
    double weight = 0.002;
    bool gentle = true;
    bool wait = false;
    double target = 0.005;
    double interval = 0.1;
};

const uint32_t payload = 1460;
const uint32_t headers = 40;
const double accessDelay = 0.001;
const double accessFactor = 10;
const uint16_t firstPort = 1024;

Settings Read(int argc, char* argv[])
{
    Settings s;
    CommandLine line;
    line.AddValue("streams", "TCP streams", s.streams);
    line.AddValue("window_packets", "send buffer in segments", s.windowPackets);
    line.AddValue("queue_packets", "of the bottleneck, with the packet being sent", s.queuePackets);
    line.AddValue("rate", "bit/s", s.rate);
    line.AddValue("rtt", "s", s.rtt);
    line.AddValue("duration", "s", s.duration);
    line.AddValue("warmup", "s that do not count", s.warmup);
    line.AddValue("seed", "of the start times and of RED", s.seed);
    line.AddValue("variant", "newreno or cubic, both with SACK", s.variant);
    line.AddValue("queue", "DropTail, RED or CoDel", s.queue);
    line.AddValue("ecn", "the queue marks, the hosts understand", s.ecn);
    line.AddValue("min", "RED: packets", s.min);
    line.AddValue("max", "RED: packets", s.max);
    line.AddValue("probability", "RED: at max", s.probability);
    line.AddValue("weight", "RED: of an arrival", s.weight);
    line.AddValue("gentle", "RED", s.gentle);
    line.AddValue("wait", "RED", s.wait);
    line.AddValue("target", "CoDel: s", s.target);
    line.AddValue("interval", "CoDel: s", s.interval);
    line.Parse(argc, argv);
    return s;
}

void SetUpTcp(const Settings& s)
{
    const auto control = s.variant == "cubic" ? TcpCubic::GetTypeId() : TcpNewReno::GetTypeId();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(control));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn",
                       EnumValue(s.ecn ? TcpSocketState::On : TcpSocketState::Off));
    // The send buffer alone limits the window.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(s.windowPackets * payload));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(2 * s.windowPackets * payload));
}

NetDeviceContainer Join(Ptr<Node> a, Ptr<Node> b, double rate, double delay, uint32_t waiting)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, waiting)));
    return link.Install(a, b);
}

// Addresses for both ends; the queue is the device's own, without a queueing discipline above it.
Ipv4InterfaceContainer GiveAddresses(const NetDeviceContainer& devices, const char* network)
{
    Ipv4AddressHelper addresses(network, "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    return interfaces;
}

// The managed queue of the bottleneck; the device below it keeps one packet, the least it can.
Ptr<QueueDisc> Manage(const Settings& s, Ptr<NetDevice> device)
{
    TrafficControlHelper control;
    const QueueSizeValue limit(QueueSize(QueueSizeUnit::PACKETS, s.queuePackets));
    if (s.queue == "CoDel")
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", limit, "UseEcn", BooleanValue(s.ecn),
                                 "Target", TimeValue(Seconds(s.target)), "Interval", TimeValue(Seconds(s.interval)));
    else if (s.queue == "RED")
        control.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", limit, "UseEcn", BooleanValue(s.ecn),
                                 "MinTh", DoubleValue(s.min), "MaxTh", DoubleValue(s.max),
                                 "LInterm", DoubleValue(1 / s.probability), "QW", DoubleValue(s.weight),
                                 "Gentle", BooleanValue(s.gentle), "Wait", BooleanValue(s.wait),
                                 "MeanPktSize", UintegerValue(payload + headers),
                                 "LinkBandwidth", DataRateValue(DataRate(static_cast<uint64_t>(s.rate))));
    else
        NS_FATAL_ERROR("no queue is called " << s.queue);
    return control.Install(device).Get(0);
}

double Jain(const std::vector<double>& rates)
{
    double sum = 0, squares = 0;
    for (double rate : rates)
    {
        sum += rate;
        squares += rate * rate;
    }
    return squares > 0 ? sum * sum / (rates.size() * squares) : 1;
}

std::vector<double> StartTimes(const Settings& s)
{
    std::vector<double> times;
    uint64_t state = s.seed;
    for (uint32_t stream = 0; stream < s.streams; stream++)
    {
        state = 16807 * state % 2147483647;
        times.push_back(state / 2147483647.0);
    }
    return times;
}

} // namespace

int main(int argc, char* argv[])
{
    const Settings s = Read(argc, argv);
    RngSeedManager::SetRun(s.seed);
    SetUpTcp(s);
    const bool managed = s.queue != "DropTail";

    NodeContainer nodes(4);
    Ptr<Node> sender = nodes.Get(0), left = nodes.Get(1), right = nodes.Get(2), receiver = nodes.Get(3);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    const uint32_t roomy = 1000000;
    auto first = Join(sender, left, accessFactor * s.rate, accessDelay, roomy);
    auto bottleneck = Join(left, right, s.rate, s.rtt / 2 - 2 * accessDelay, managed ? 1 : s.queuePackets - 1);
    auto last = Join(right, receiver, accessFactor * s.rate, accessDelay, roomy);
    GiveAddresses(first, "10.0.1.0");
    Ptr<QueueDisc> disc;
    if (managed)
    {
        disc = Manage(s, bottleneck.Get(0));
        Ipv4AddressHelper("10.0.2.0", "255.255.255.0").Assign(bottleneck);
    }
    else
        GiveAddresses(bottleneck, "10.0.2.0");
    const Ipv4Address destination = GiveAddresses(last, "10.0.3.0").GetAddress(1);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<Ptr<PacketSink>> sinks;
    for (double start : StartTimes(s))
    {
        const uint16_t port = firstPort + sinks.size();
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(destination, port));
        source.SetAttribute("SendSize", UintegerValue(payload));
        source.Install(sender).Start(Seconds(start));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(receiver).Get(0)));
    }

    // What had happened when the warm-up ended.
    std::vector<uint64_t> receivedBefore(sinks.size());
    uint64_t dropsBefore = 0, marksBefore = 0;
    const auto drops = [&] { return disc ? disc->GetStats().nTotalDroppedPackets : 0; };
    const auto marks = [&] { return disc ? disc->GetStats().nTotalMarkedPackets : 0; };
    Simulator::Schedule(Seconds(s.warmup), [&] {
        for (size_t index = 0; index < sinks.size(); index++)
            receivedBefore[index] = sinks[index]->GetTotalRx();
        dropsBefore = drops();
        marksBefore = marks();
    });
    // The length of a managed queue, with what the device below holds, summed over time.
    double packetSeconds = 0, changed = s.warmup;
    uint32_t waiting = 0;
    const auto below = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->GetQueue();
    const auto note = [&] {
        const double now = Simulator::Now().GetSeconds();
        if (now > changed)
        {
            packetSeconds += waiting * (now - changed);
            changed = now;
        }
        waiting = disc->GetNPackets() + below->GetNPackets();
    };
    if (disc)
    {
        disc->TraceConnectWithoutContext("PacketsInQueue", Callback<void, uint32_t, uint32_t>(
                                                               [&](uint32_t, uint32_t) { note(); }));
        below->TraceConnectWithoutContext("PacketsInQueue", Callback<void, uint32_t, uint32_t>(
                                                                [&](uint32_t, uint32_t) { note(); }));
    }

    Simulator::Stop(Seconds(s.duration));
    Simulator::Run();

    uint64_t received = 0;
    std::vector<double> rates;
    const double seconds = s.duration - s.warmup;
    for (size_t index = 0; index < sinks.size(); index++)
    {
        const uint64_t bytes = sinks[index]->GetTotalRx() - receivedBefore[index];
        received += bytes;
        rates.push_back(bytes * 8 / seconds / 1e6);
    }
    if (disc)
        note();
    // What the sender has handed to its link; nothing is lost there.
    const auto offered = DynamicCast<PointToPointNetDevice>(first.Get(0))->GetQueue()->GetTotalReceivedPackets();
    std::cout << "{\"goodput_mbps\": " << received * 8 / seconds / 1e6 << ", \"jain\": " << Jain(rates);
    if (disc)
        std::cout << ", \"queue_drops\": " << drops() - dropsBefore << ", \"marks\": " << marks() - marksBefore
                  << ", \"mean_queue_packets\": " << packetSeconds / seconds;
    std::cout << ", \"data_packets_whole_run\": " << offered << "}" << std::endl;
    // Taking everything apart would be measured as well.
    _exit(0);
}
