/** Size of a node of the graph in pixels. */
export const WIDTH = 216;
export const HEIGHT = 46;
