"""Ways to make a model less biased: one file a method. They change models; whether it helped is for measures to say."""
