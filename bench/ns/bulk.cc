// Streams over a dumbbell in ns-3, the twin of dumbbell.tcl, for what a data packet costs there.
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
    uint32_t seed = 1;
};

const uint32_t payload = 1460;
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
    line.AddValue("seed", "of the start times", s.seed);
    line.Parse(argc, argv);
    return s;
}

void SetUpTcp(const Settings& s)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
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
    SetUpTcp(s);

    NodeContainer nodes(4);
    Ptr<Node> sender = nodes.Get(0), left = nodes.Get(1), right = nodes.Get(2), receiver = nodes.Get(3);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    const uint32_t roomy = 1000000;
    auto first = Join(sender, left, accessFactor * s.rate, accessDelay, roomy);
    auto bottleneck = Join(left, right, s.rate, s.rtt / 2 - 2 * accessDelay, s.queuePackets - 1);
    auto last = Join(right, receiver, accessFactor * s.rate, accessDelay, roomy);
    GiveAddresses(first, "10.0.1.0");
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

    Simulator::Stop(Seconds(s.duration));
    Simulator::Run();

    uint64_t received = 0;
    for (const auto& sink : sinks)
        received += sink->GetTotalRx();
    // What the sender has handed to its link; nothing is lost there.
    const auto offered = DynamicCast<PointToPointNetDevice>(first.Get(0))->GetQueue()->GetTotalReceivedPackets();
    std::cout << "{\"goodput_mbps\": " << received * 8 / s.duration / 1e6
              << ", \"data_packets_whole_run\": " << offered << "}" << std::endl;
    // Taking everything apart would be measured as well.
    _exit(0);
}
