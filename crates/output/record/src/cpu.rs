//! Processor use at both ends.

use observe::{CpuSample, Observation, TerminalCpu};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Processor use over a run; an end that did not tell is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// This end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Near>,
    /// The far end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<Shares>,
}

/// This end's processor use, with its readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Near {
    /// In the program, over the run; absent when it was too short to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_ratio: Option<f64>,
    /// In the kernel on its behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_ratio: Option<f64>,
    /// The readings.
    pub samples: Vec<CpuSample>,
}

/// Shares of one processor: 0.5 is half of one, 2.0 is two full ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shares {
    /// In the program.
    pub user_ratio: f64,
    /// In the kernel on its behalf.
    pub kernel_ratio: f64,
}

impl From<&Observation> for Cpu {
    fn from(observation: &Observation) -> Self {
        let percent = |(user, kernel): (f64, f64)| Shares {
            user_ratio: user / 100.0,
            kernel_ratio: kernel / 100.0,
        };
        Cpu {
            near: observation.cpu_near.as_ref().map(Near::from),
            far: observation.cpu_far_percent.map(percent),
        }
    }
}

impl From<&TerminalCpu> for Near {
    fn from(cpu: &TerminalCpu) -> Self {
        let (user, kernel) = cpu.shares().unzip();
        Near {
            user_ratio: user,
            kernel_ratio: kernel,
            samples: cpu.samples.clone(),
        }
    }
}
