"""What every classifier is: the verbs it answers, the rows it reads, the numbers it accepts."""
