// Where the shim (`docker/shim`) and the harness meet: a folder that a node shares with its sandbox, and in it one page
// for each thing that can be set. Known to the C sources by the same names.

/** Absolute, in the node and in its sandbox. */
export const CONTROLS_FOLDER = '/lockpick-controls';
