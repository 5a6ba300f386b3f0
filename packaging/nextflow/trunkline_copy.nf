// A process that copies files from or to another host with `trunkline copy`.
//
//   include { TRUNKLINE_GET; TRUNKLINE_PUT } from './trunkline_copy.nf'
//
//   workflow {
//       TRUNKLINE_GET(Channel.of('dtn.example.org:/store/run7'))
//       ANALYSE(TRUNKLINE_GET.out.files)
//   }
//
// Places are values, not paths: Nextflow would copy those itself, file by file. A task that a signal
// ended (exit status 75) is tried again, and goes on where it stopped: the copy's target is a folder
// below `params.trunkline_store`, which outlives the task.

params.trunkline_options = ''
params.trunkline_store = "${workflow.workDir}/trunkline"

process TRUNKLINE_GET {
    tag "$place"
    errorStrategy { task.exitStatus == 75 ? 'retry' : 'finish' }
    maxRetries 100

    input:
    val place

    output:
    path 'files/*', emit: files
    path 'copy.json', emit: document

    script:
    """
    store=${params.trunkline_store}/\$(printf '%s' '${place}' | sha256sum | cut -c1-16)
    mkdir -p "\$store"
    trunkline copy -r ${params.trunkline_options} --save copy.json -- '${place}' "\$store/"
    ln -s "\$store" files
    """
}

process TRUNKLINE_PUT {
    tag "$place"
    errorStrategy { task.exitStatus == 75 ? 'retry' : 'finish' }
    maxRetries 100

    input:
    path files
    val place

    output:
    path 'copy.json', emit: document

    script:
    """
    trunkline copy -r -L ${params.trunkline_options} --save copy.json -- ${files} '${place}'
    """
}
