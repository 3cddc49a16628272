"""What all families of the search share: functions of the target, the polish
of numbers, and description length."""
