def measure_forces(*a): 
    "x"
