/** The cell that a number in the text links to. Each click makes a new object, so that the same cell can flash again. */
export interface LitCell {
  row: number | null;
  column: number | null;
}
