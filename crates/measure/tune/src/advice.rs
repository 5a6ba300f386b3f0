//! Settings to paste into other tools.
//!
//! A window here is the size that a program passes to `setsockopt`, before Linux doubles it for its
//! own bookkeeping. All tools below that have a flag for it mean the same, with two twists: bbcp
//! gives the sending end a fifth less than it was told, and FDT sets the sending end only. An
//! automatic window means no flag at all, since any size turns the kernel's own growth off.
//!
//! Read for this: iperf3 3.12's help; globus-url-copy's usage text of the Globus Toolkit; xrdcp's
//! manual page; bbcp's `bbcp_Config.C` and `bbcp_Network.C`; FDT's `TCPTransportProvider.java`;
//! rclone's documentation of `--multi-thread-streams`; bbftp's usage text and its client's
//! `setsendwinsize`, which counts KiB. Left out: tools without parallel streams.

use observe::{Direction, Setting, StreamCount, Transport, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate};

/// A program that moves or measures bulk data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// iperf3.
    Iperf3,
    /// globus-url-copy, GridFTP's client.
    GlobusUrlCopy,
    /// xrdcp, XRootD's client.
    Xrdcp,
    /// bbcp.
    Bbcp,
    /// FDT.
    Fdt,
    /// rclone.
    Rclone,
    /// bbftp.
    Bbftp,
    /// tc, which paces whatever a Linux host sends.
    Tc,
    /// trunkline itself.
    Trunkline,
}

impl Tool {
    /// Every tool that takes streams, in the order in which advice is given.
    pub const ALL: [Tool; 7] = [
        Tool::Iperf3,
        Tool::GlobusUrlCopy,
        Tool::Xrdcp,
        Tool::Bbcp,
        Tool::Fdt,
        Tool::Rclone,
        Tool::Bbftp,
    ];

    /// Whether it sets the congestion control of its sockets, or has nothing to do with it.
    fn sets_congestion(self) -> bool {
        matches!(self, Tool::Iperf3 | Tool::Trunkline | Tool::Tc)
    }

    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Iperf3 => "iperf3",
            Tool::GlobusUrlCopy => "globus-url-copy",
            Tool::Xrdcp => "xrdcp",
            Tool::Bbcp => "bbcp",
            Tool::Fdt => "FDT",
            Tool::Rclone => "rclone",
            Tool::Bbftp => "bbftp",
            Tool::Tc => "tc",
            Tool::Trunkline => "trunkline",
        }
    }
}

/// How one tool is told to use a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The tool.
    pub tool: Tool,
    /// A command with the setting in it; words in capitals are the user's to fill in.
    pub command: String,
    /// What to know about the tool's flags, or what it does differently from what was asked.
    pub note: Option<String>,
}

/// One end of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The host that sends.
    Sender,
    /// The host that receives.
    Receiver,
}

/// One line for `/etc/sysctl.d` or `sysctl -w`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SysctlLine {
    /// The host that it is for.
    #[serde(rename = "host")]
    pub end: End,
    /// The key, such as `net.core.wmem_max`.
    pub key: String,
    /// The value to give it: one number, or three for `tcp_rmem` and `tcp_wmem`.
    pub value: String,
    /// What it is now, where that is known; for `tcp_rmem` and `tcp_wmem` the last of the three.
    #[serde(rename = "now_bytes", skip_serializing_if = "Option::is_none")]
    pub now: Option<Bytes>,
    /// Why it stands in the way, and on which condition the line helps.
    pub why: String,
}

impl SysctlLine {
    /// The line as `/etc/sysctl.d` takes it.
    pub fn text(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }
}

/// How each tool is told to use `setting`; one that leaves the congestion control to the host, or
/// does not speak what `setting` goes over, gets `own_control` instead, where there is one.
///
/// ```
/// use observe::{Setting, StreamCount, Window};
/// use units::Bytes;
/// let setting = Setting::new(StreamCount::new(8).unwrap(), Window::Fixed(Bytes::from_kib(64)));
/// let every = tune::advice::for_setting(&setting, None);
/// let commands: Vec<String> = every.into_iter().map(|advice| advice.command).collect();
/// assert_eq!(commands[0], "iperf3 -c HOST -P 8 -w 65536");
/// assert_eq!(commands[1], "globus-url-copy -p 8 -tcp-bs 65536 SOURCE_URL DESTINATION_URL");
/// ```
pub fn for_setting(setting: &Setting, own_control: Option<&Setting>) -> Vec<Advice> {
    let is_paced = setting.pacing.is_some();
    let is_over_udp = setting.transport == Transport::Udp;
    let trunkline = [Tool::Trunkline].into_iter();
    let trunkline = trunkline.filter(|_| is_paced || is_over_udp || setting.congestion.is_some());
    let tc = [Tool::Tc].into_iter().filter(|_| is_paced);
    // Without anything that was found over TCP there is nothing to tell other programs.
    let others = Tool::ALL.into_iter();
    let others = others.filter(|_| !is_over_udp || own_control.is_some());
    others
        .chain(trunkline)
        .chain(tc)
        .map(|tool| match own_control {
            Some(own) if is_over_udp && tool != Tool::Trunkline => for_tool(tool, own),
            Some(own) if !tool.sets_congestion() => for_host_control(tool, own, setting),
            _ => for_tool(tool, setting),
        })
        .collect()
}

/// How a tool without a flag for the congestion control is told to use the best that was found with
/// the host's.
fn for_host_control(tool: Tool, own: &Setting, recommended: &Setting) -> Advice {
    let advice = for_tool(tool, own);
    let control = recommended.congestion.as_deref().unwrap_or_default();
    let control = format!(
        "with the host's congestion control; root's `sysctl -w \
         net.ipv4.tcp_congestion_control={control}` lets it do with {} of {control}",
        match recommended.streams {
            StreamCount::ONE => "1 stream".to_owned(),
            streams => format!("{streams} streams"),
        }
    );
    let notes = [advice.note, Some(control)];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    Advice {
        note: Some(notes.join("; ")),
        ..advice
    }
}

/// How one tool is told to use `setting`.
pub fn for_tool(tool: Tool, setting: &Setting) -> Advice {
    let mut flags = Flags::default();
    match tool {
        Tool::Iperf3 => iperf3(setting, &mut flags),
        Tool::GlobusUrlCopy => globus_url_copy(setting, &mut flags),
        Tool::Xrdcp => xrdcp(setting, &mut flags),
        Tool::Bbcp => bbcp(setting, &mut flags),
        Tool::Fdt => fdt(setting, &mut flags),
        Tool::Rclone => rclone(setting, &mut flags),
        Tool::Bbftp => bbftp(setting, &mut flags),
        Tool::Tc => tc(setting, &mut flags),
        Tool::Trunkline => trunkline(setting, &mut flags),
    }
    if !tool.sets_congestion() {
        flags.without_congestion(setting);
    }
    if Tool::ALL.contains(&tool) && tool != Tool::Iperf3 {
        flags.without_pacing(setting);
    }
    Advice {
        tool,
        command: flags.words.join(" "),
        note: (!flags.notes.is_empty()).then(|| flags.notes.join("; ")),
    }
}

#[derive(Default)]
struct Flags {
    words: Vec<String>,
    notes: Vec<String>,
}

impl Flags {
    fn word(&mut self, word: &str) {
        self.words.push(word.to_owned());
    }

    fn flag(&mut self, flag: &str, value: impl ToString) {
        self.words.push(format!("{flag} {}", value.to_string()));
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// For tools that have no flag for it.
    fn without_window(&mut self, setting: &Setting) {
        if let Some(window) = fixed(setting) {
            self.note(format!(
                "it has no flag for the window, so the kernel sizes it instead of {}",
                window.human()
            ));
        }
    }

    fn without_pacing(&mut self, setting: &Setting) {
        if setting.pacing.is_some() {
            self.note("it has no flag for the pace: let tc pace it, see below");
        }
    }

    fn without_congestion(&mut self, setting: &Setting) {
        if let Some(name) = &setting.congestion {
            self.note(format!(
                "it uses the host's congestion control: \
                 `sysctl -w net.ipv4.tcp_congestion_control={name}`"
            ));
        }
    }
}

fn fixed(setting: &Setting) -> Option<Bytes> {
    match setting.window {
        Window::Auto => None,
        Window::Fixed(window) => Some(window),
    }
}

fn iperf3(setting: &Setting, flags: &mut Flags) {
    flags.word("iperf3 -c HOST");
    flags.flag("-P", setting.streams);
    if let Some(window) = fixed(setting) {
        flags.flag("-w", window.get());
    }
    if let Some(name) = &setting.congestion {
        flags.flag("-C", name);
    }
    if let Some(mss) = setting.mss {
        flags.flag("-M", mss);
    }
    if let Some(pace) = setting.pacing {
        flags.flag("--fq-rate", pace.bits_per_second());
    }
    match setting.direction {
        Direction::Forward => {}
        Direction::Reverse => flags.word("-R"),
        Direction::Both => flags.word("--bidir"),
    }
}

fn globus_url_copy(setting: &Setting, flags: &mut Flags) {
    flags.word("globus-url-copy");
    if setting.streams.get() > 1 {
        flags.flag("-p", setting.streams);
    }
    if let Some(window) = fixed(setting) {
        flags.flag("-tcp-bs", window.get());
    }
    flags.word("SOURCE_URL DESTINATION_URL");
}

/// The most that `-S` takes.
const XRDCP_STREAMS_MAX: u16 = 15;

fn xrdcp(setting: &Setting, flags: &mut Flags) {
    flags.word("xrdcp");
    let streams = setting.streams.get();
    if streams > 1 {
        flags.flag("-S", streams.min(XRDCP_STREAMS_MAX));
        flags.note("-S counts the streams beside the first connection");
    }
    if streams > XRDCP_STREAMS_MAX {
        flags.note(format!(
            "it takes no more than {XRDCP_STREAMS_MAX} of the {streams} streams; --parallel \
             copies several files at once"
        ));
    }
    flags.word("SOURCE DESTINATION");
    flags.without_window(setting);
}

fn bbcp(setting: &Setting, flags: &mut Flags) {
    flags.word("bbcp");
    flags.flag("-s", setting.streams);
    match fixed(setting) {
        // The sending end asks the kernel for four fifths of what it is told.
        Some(window) => {
            flags.flag("-w", format!("={}", window.times(5).get().div_ceil(4)));
            flags.note(
                "the = keeps bbcp from leaving the size to the kernel; the sending end takes a \
                 fifth less than it is told, so a quarter is added here",
            );
        }
        None => flags.note("without -w it leaves the size to Linux"),
    }
    flags.word("SOURCE HOST:DESTINATION");
}

fn fdt(setting: &Setting, flags: &mut Flags) {
    flags.word("java -jar fdt.jar -c HOST");
    flags.flag("-P", setting.streams);
    if let Some(window) = fixed(setting) {
        flags.flag("-ss", window.get());
        flags.note("-ss sets the sending end; the receiving kernel sizes its own buffer");
    }
    flags.word("-d DIRECTORY FILES");
}

fn rclone(setting: &Setting, flags: &mut Flags) {
    flags.word("rclone copy --transfers 1");
    flags.flag("--multi-thread-streams", setting.streams);
    flags.word("SOURCE DESTINATION");
    flags.note(
        "files below --multi-thread-cutoff (256 MiB unless set) use one stream each; \
         --transfers 1 keeps it from copying four files at once with as many streams each",
    );
    flags.without_window(setting);
}

/// Windows are whole KiB and hold for both ends.
fn bbftp(setting: &Setting, flags: &mut Flags) {
    let window = fixed(setting).map(|window| window.get().div_ceil(1024));
    let sizes = window.map_or(String::new(), |kib| {
        format!("setsendwinsize {kib}; setrecvwinsize {kib}; ")
    });
    flags.word("bbftp");
    flags.flag("-p", setting.streams);
    flags.word(&format!("-e '{sizes}put SOURCE DESTINATION' HOST"));
    match window {
        Some(_) => flags.note("it counts windows in KiB"),
        None => flags
            .note("it sets a window of its own unless told one, which ends the kernel's growth"),
    }
}

/// `maxrate` of the queueing discipline fq bounds each stream (tc-fq(8)).
fn tc(setting: &Setting, flags: &mut Flags) {
    let pace = setting.pacing.map_or(0, Rate::bits_per_second);
    flags.word(&format!(
        "tc qdisc replace dev DEVICE root fq maxrate {pace}bit"
    ));
    flags.note(
        "for all that the sending host sends by this device, each stream by itself; \
         `tc qdisc del dev DEVICE root` takes it back",
    );
}

/// A copy's bound on its rate paces its streams.
fn trunkline(setting: &Setting, flags: &mut Flags) {
    flags.word("trunkline copy");
    let (near, far) = match setting.transport {
        Transport::Tcp => ("SOURCE HOST:DESTINATION", "HOST:SOURCE DESTINATION"),
        Transport::Udp => {
            flags.word("--transport udp");
            flags.note("HOST runs `trunkline serve --root`");
            (
                "SOURCE trunkline://HOST/DESTINATION",
                "trunkline://HOST/SOURCE DESTINATION",
            )
        }
    };
    flags.flag("-P", setting.streams);
    if let Some(window) = fixed(setting) {
        flags.flag("-w", window.get());
    }
    if let Some(name) = &setting.congestion {
        flags.flag("-C", name);
    }
    if let Some(pace) = setting.pacing {
        let streams = u64::from(setting.streams.get());
        let all = Rate::from_bits_per_second(pace.bits_per_second().saturating_mul(streams));
        flags.flag("--max-rate", all);
        flags.note("the bound is for all streams together, and paces them");
    }
    flags.word(match setting.direction {
        Direction::Reverse => far,
        Direction::Forward | Direction::Both => near,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::StreamCount;

    fn setting(streams: u64, window: Window) -> Setting {
        Setting::new(StreamCount::new(streams).unwrap(), window)
    }

    fn command(tool: Tool, setting: &Setting) -> String {
        for_tool(tool, setting).command
    }

    fn noted(tool: Tool, setting: &Setting) -> String {
        for_tool(tool, setting).note.unwrap_or_default()
    }

    #[test]
    fn an_automatic_window_leaves_every_window_flag_out() {
        let setting = setting(4, Window::Auto);
        let commands: Vec<String> = Tool::ALL.map(|tool| command(tool, &setting)).to_vec();
        assert_eq!(
            commands,
            [
                "iperf3 -c HOST -P 4",
                "globus-url-copy -p 4 SOURCE_URL DESTINATION_URL",
                "xrdcp -S 4 SOURCE DESTINATION",
                "bbcp -s 4 SOURCE HOST:DESTINATION",
                "java -jar fdt.jar -c HOST -P 4 -d DIRECTORY FILES",
                "rclone copy --transfers 1 --multi-thread-streams 4 SOURCE DESTINATION",
                "bbftp -p 4 -e 'put SOURCE DESTINATION' HOST",
            ]
        );
    }

    #[test]
    fn a_fixed_window_is_passed_on_as_it_was_asked_for() {
        let setting = setting(8, Window::Fixed(Bytes::from_kib(64)));
        assert_eq!(
            command(Tool::Iperf3, &setting),
            "iperf3 -c HOST -P 8 -w 65536"
        );
        // 81,920 less a fifth is 65,536.
        assert_eq!(
            command(Tool::Bbcp, &setting),
            "bbcp -s 8 -w =81920 SOURCE HOST:DESTINATION"
        );
        assert!(command(Tool::Fdt, &setting).contains("-ss 65536"));
        assert_eq!(
            command(Tool::Bbftp, &setting),
            "bbftp -p 8 -e 'setsendwinsize 64; setrecvwinsize 64; put SOURCE DESTINATION' HOST"
        );
    }

    #[test]
    fn a_tool_without_a_window_flag_says_so_only_when_a_window_was_asked_for() {
        let says =
            |tool, setting: &Setting| noted(tool, setting).contains("no flag for the window");
        for tool in [Tool::Xrdcp, Tool::Rclone] {
            assert!(
                says(tool, &setting(2, Window::Fixed(Bytes::from_kib(64)))),
                "{tool:?}"
            );
            assert!(!says(tool, &setting(2, Window::Auto)), "{tool:?}");
        }
    }

    #[test]
    fn a_pace_goes_where_there_is_a_flag_and_tc_paces_the_others() {
        let setting = Setting {
            pacing: Some(Rate::from_bits_per_second(40_000_000)),
            ..setting(2, Window::Auto)
        };
        let advice = for_setting(&setting, None);
        let commands: Vec<&str> = advice.iter().map(|one| one.command.as_str()).collect();
        assert_eq!(commands[0], "iperf3 -c HOST -P 2 --fq-rate 40000000");
        assert_eq!(
            commands[7],
            "trunkline copy -P 2 --max-rate 80Mbit/s SOURCE HOST:DESTINATION"
        );
        assert_eq!(
            commands[8],
            "tc qdisc replace dev DEVICE root fq maxrate 40000000bit"
        );
        for one in &advice[1..7] {
            let note = one.note.as_deref().unwrap_or_default();
            assert!(note.contains("let tc pace it"), "{one:?}");
        }
        assert_eq!(
            for_setting(
                &Setting {
                    pacing: None,
                    ..setting
                },
                None
            )
            .len(),
            7
        );
    }

    #[test]
    fn a_tool_that_leaves_the_control_to_the_host_gets_the_best_with_that() {
        let bbr = Setting {
            congestion: Some("bbr".to_owned()),
            ..setting(1, Window::Auto)
        };
        let own = setting(16, Window::Auto);
        let advice = for_setting(&bbr, Some(&own));
        assert_eq!(advice[0].command, "iperf3 -c HOST -P 1 -C bbr");
        assert_eq!(
            advice[1].command,
            "globus-url-copy -p 16 SOURCE_URL DESTINATION_URL"
        );
        let note = advice[1].note.as_deref().unwrap_or_default();
        assert!(
            note.contains("tcp_congestion_control=bbr") && note.contains("1 stream of bbr"),
            "{note}"
        );
        let trunkline = advice.last().unwrap();
        assert!(
            trunkline.command.contains("-P 1 -C bbr"),
            "{}",
            trunkline.command
        );
    }

    #[test]
    fn more_streams_than_a_tool_takes_are_cut_with_a_note() {
        let advice = for_tool(Tool::Xrdcp, &setting(32, Window::Auto));
        assert_eq!(advice.command, "xrdcp -S 15 SOURCE DESTINATION");
        assert!(
            advice.note.iter().any(|note| note.contains("32 streams")),
            "{advice:?}"
        );
    }

    #[test]
    fn congestion_control_and_direction_go_where_there_is_a_flag() {
        let setting = Setting {
            congestion: Some("bbr".to_owned()),
            direction: Direction::Reverse,
            ..setting(2, Window::Auto)
        };
        assert_eq!(
            command(Tool::Iperf3, &setting),
            "iperf3 -c HOST -P 2 -C bbr -R"
        );
        let notes = for_tool(Tool::Fdt, &setting).note;
        assert!(
            notes
                .iter()
                .any(|note| note.contains("tcp_congestion_control=bbr")),
            "{notes:?}"
        );
        let last = for_setting(&setting, None).pop().unwrap();
        assert_eq!(
            last.command,
            "trunkline copy -P 2 -C bbr HOST:SOURCE DESTINATION"
        );
        assert_eq!(last.note, None);
    }
}
