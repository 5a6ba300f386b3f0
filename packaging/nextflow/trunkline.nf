// Files of a far host in a Nextflow workflow, copied by tasks of their own:
//
//   include { TRUNKLINE_GET; TRUNKLINE_PUT } from './trunkline'
//
//   workflow {
//       reads = TRUNKLINE_GET(channel.of('trunkline://dtn.example.org/run7/reads'), params.cache)
//       TRUNKLINE_PUT(ALIGN(reads), 'trunkline://dtn.example.org/run7/aligned')
//   }
//
// Nextflow stages `path` inputs itself, one stream each. These take the far name as a `val`, and
// any place that `trunkline copy` takes: HOST:PATH over ssh, or trunkline://HOST/PATH of a server.
//
// A copy that a signal ends (the time limit of a job) ends with 75 and is tried again. What has
// arrived is not sent again: what is fetched arrives in a cache, an absolute name of a folder that
// tasks share, and stays there.
//
// The token of a server: `nextflow secrets set TRUNKLINE_TOKEN ...`, and in nextflow.config
//   process { withName: 'TRUNKLINE_.*' { secret = 'TRUNKLINE_TOKEN' } }

// What a copy ends with that the same command continues, and what engines make of a signal.
def goesOn(status) { status in [75, 130, 137, 140, 143] }

process TRUNKLINE_GET {
    tag "${source}"
    cpus 2
    errorStrategy { goesOn(task.exitStatus) ? 'retry' : 'terminate' }
    maxRetries 10

    input:
    val source
    val cache

    output:
    path 'got/*'

    script:
    """
    # A folder for each source, so that names of two sources do not meet.
    into="${cache}/\$(printf %s '${source}' | sha256sum | cut -c -16)"
    mkdir -p "\$into" got
    trunkline copy -r --copy-links '${source}' "\$into/"
    ln -s "\$into"/* got/
    """

    stub:
    """
    mkdir -p got
    touch got/stub
    """
}

process TRUNKLINE_PUT {
    tag "${target}"
    cpus 2
    errorStrategy { goesOn(task.exitStatus) ? 'retry' : 'terminate' }
    maxRetries 10

    input:
    path files
    val target

    output:
    val target

    script:
    """
    # Inputs are links to what other tasks made.
    trunkline copy -r --copy-links ${files} '${target}/'
    """

    stub:
    """
    true
    """
}
